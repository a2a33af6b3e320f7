"""What answers: the `Model` protocol, scripted and recorded models, and local ones."""

from trueness.backends.protocol import CAPABILITIES as CAPABILITIES
from trueness.backends.protocol import Model as Model
from trueness.backends.protocol import Request as Request
from trueness.backends.protocol import Result as Result
from trueness.backends.protocol import Step as Step
from trueness.backends.protocol import Tokenizer as Tokenizer
from trueness.backends.protocol import require as require
from trueness.backends.registry import FORMS as FORMS
from trueness.backends.registry import open_model as open_model
from trueness.backends.registry import parse_options as parse_options
