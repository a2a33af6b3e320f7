"""Models and embedders behind an OpenAI-compatible server."""

from trueness.backends.openai_compatible.embedder import OpenAIEmbedder as OpenAIEmbedder
from trueness.backends.openai_compatible.endpoint import Endpoint as Endpoint
from trueness.backends.openai_compatible.model import OpenAIModel as OpenAIModel
