"""The laboratory: experiments, the engine that runs their cells, and the store that keeps what came of them."""
