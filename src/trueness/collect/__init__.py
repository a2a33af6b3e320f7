"""Asking: a relation under conditions, to an answer table that survives a kill."""

from trueness.collect.asking import ask as ask
from trueness.collect.condition_words import parse_conditions as parse_conditions
from trueness.collect.conditions import NONE as NONE
from trueness.collect.conditions import Condition as Condition
from trueness.collect.conditions import read_conditions as read_conditions
from trueness.collect.questions import Questionable as Questionable
from trueness.collect.questions import Quiz as Quiz
from trueness.collect.questions import facts_of as facts_of
from trueness.collect.selfcheck import SelfCheck as SelfCheck
from trueness.collect.summary import AskSummary as AskSummary
from trueness.collect.votes import Vote as Vote
from trueness.collect.votes import vote as vote
