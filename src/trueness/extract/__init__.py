"""Text to canonical answer keys, versioned. Never sees the gold of an item."""

from trueness.extract.entities import normalise_entities as normalise_entities
from trueness.extract.entities import normalise_entity as normalise_entity
from trueness.extract.extraction import extract as extract
from trueness.extract.extraction import extractor_name as extractor_name
from trueness.extract.keying import keyed as keyed
from trueness.extract.naming import check_rule as check_rule
from trueness.extract.naming import named as named
from trueness.extract.naming import rule_of as rule_of
from trueness.extract.numbers import exact_number as exact_number
from trueness.extract.result import Extraction as Extraction
from trueness.extract.settings import EXTRACTORS as EXTRACTORS
from trueness.extract.settings import KINDS as KINDS
from trueness.extract.settings import Extractor as Extractor
from trueness.extract.settings import Kind as Kind
from trueness.extract.settings import Settings as Settings
from trueness.extract.short import short_key as short_key
