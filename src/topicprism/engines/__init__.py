"""Documents on other machines: each engine has ``n_words`` and ``total``, as all documents have.

::

    dask    shards in the memory of Dask's workers    OnDask
    gpu     in the memory of a GPU, or streamed       OnGPU
    tasks   what is asked of these workers

What an engine needs is imported with its module and with nothing else.
"""
