"""What answers, embeds or judges entailment: protocols, and what stands behind them."""

from trueness.backends.embedder import Embedder as Embedder
from trueness.backends.embedder import Role as Role
from trueness.backends.embedding import Embedded as Embedded
from trueness.backends.embedding import embed_texts as embed_texts
from trueness.backends.entailment import Entailer as Entailer
from trueness.backends.protocol import CAPABILITIES as CAPABILITIES
from trueness.backends.protocol import Model as Model
from trueness.backends.protocol import Request as Request
from trueness.backends.protocol import Result as Result
from trueness.backends.protocol import Step as Step
from trueness.backends.protocol import Streaming as Streaming
from trueness.backends.protocol import Tokenizer as Tokenizer
from trueness.backends.protocol import require as require
from trueness.backends.registry import EMBEDDERS as EMBEDDERS
from trueness.backends.registry import FORMS as FORMS
from trueness.backends.registry import open_embedder as open_embedder
from trueness.backends.registry import open_model as open_model
from trueness.backends.registry import open_white_box as open_white_box
from trueness.backends.registry import parse_options as parse_options
