"""What was observed: tables of answers, their protocols, their readers and writers."""

from trueness.table.answers import OUTCOMES as OUTCOMES
from trueness.table.answers import AnswerTable as AnswerTable
from trueness.table.answers import Outcome as Outcome
from trueness.table.column import NULL as NULL
from trueness.table.column import Column as Column
from trueness.table.column import TextRule as TextRule
from trueness.table.protocol import Protocol as Protocol
from trueness.table.reading import read_answers as read_answers
