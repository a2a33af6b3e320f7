"""What was observed: tables of answers, their protocols, their readers and writers."""

from trueness.table.answers import OUTCOMES as OUTCOMES
from trueness.table.answers import AnswerTable as AnswerTable
from trueness.table.answers import Outcome as Outcome
from trueness.table.column import NULL as NULL
from trueness.table.column import Column as Column
from trueness.table.column import TextRule as TextRule
from trueness.table.column import pick as pick
from trueness.table.declarations import read_declaration_file as read_declaration_file
from trueness.table.journal import AnswerJournal as AnswerJournal
from trueness.table.journal import JournalState as JournalState
from trueness.table.journal import read_journal as read_journal
from trueness.table.protocol import Protocol as Protocol
from trueness.table.reading import read_answers as read_answers
from trueness.table.relations import Relation as Relation
from trueness.table.relations import bundled_conditions as bundled_conditions
from trueness.table.relations import bundled_file as bundled_file
from trueness.table.relations import bundled_relation as bundled_relation
from trueness.table.relations import bundled_relations as bundled_relations
from trueness.table.relations import load_relation as load_relation
from trueness.table.relations import wide_relations as wide_relations
from trueness.table.writing import write as write
from trueness.table.writing import write_jsonl as write_jsonl
