"""Models of transformers on this machine: answers, logits, and the view inside.

`LocalModel` (made by `open_model("hf:…")` and by `open_white_box`) is a `Model` and a `Scorer`, and
offers beside them, each under the capability of its own name:

=====================================================  ============================================
``next_logits(requests)``                              (n, V) float32, at the last prompt token
``hidden_states(prompts, positions)``                  (n, L + 1, P, D) float32; entry 0 embeddings,
                                                       entry L before the final norm
``readout(h)``                                         (…, V) float32: final norm and unembedding
``attentions(prompts, query=-1)``                      (n, L, heads, T) float32
``logit_gradients(prompts, tokens, of="logit")``       (n, c, T, D) float32, by input embeddings
``logit_vjp(prompt, layer, weights)``                  (s, D) float32, by one residual state
``row_map(prompt, layer, position)``                   ``jvp``, ``vjp``, ``jacobian(chunk=64)``
``intervene(site, positions=…, steps=…, delta=…)``     context manager
``token_span(prompt, start, stop)``                    half-open token interval
=====================================================  ============================================

A prompt is a text (encoded, behind BOS where the model has one) or ids, sent as they are. V counts
the ids that the tokenizer knows: rows that only pad the unembedding (``n_surplus`` of them) are cut
off everywhere. ``ids_of(prompt)`` gives what is sent, ``ids_after(prompt, text)`` the ids of a text
in its context. Everything comes back as numpy; nothing here is a statistic. torch is loaded when a
model is opened, not before.
"""
