"""The agent: a model, its tools and the loop between them.

Read `model` and `tool` (the ports), then `loop` (the flow), `step` (tools side by side), `answer` (what a person gets
to see) and `seen` (what the model saw). `model_openai` and `model_demo` are the models; `overflow` says what a
provider's failure means.
"""
