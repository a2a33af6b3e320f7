"""The verbs as Python functions: read, key, measure, decide."""

from trueness.api.answers import read as read
from trueness.api.asking import ask as ask
from trueness.api.asking import find_relation as find_relation
from trueness.api.certifying import certify as certify
from trueness.api.certifying import certify_each as certify_each
from trueness.api.choosing import choose as choose
from trueness.api.choosing import kept as kept
from trueness.api.importing import log_blocks as log_blocks
from trueness.api.importing import log_facts as log_facts
from trueness.api.measuring import compare as compare
from trueness.api.measuring import compare_each as compare_each
from trueness.api.measuring import measure as measure
from trueness.api.measuring import measure_each as measure_each
