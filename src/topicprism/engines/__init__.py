"""Documents on other machines: each engine has ``n_words`` and ``total``, as all documents have.

::

    dask         shards in the memory of Dask's workers      OnDask
    tasks        what is asked of these workers
    spark        shards in the memory of Spark's executors   OnSpark
    stages       what is asked of these executors
    predictions  as columns of a DataFrame of Spark's
    gpu          in the memory of a GPU, or streamed         OnGPU

What an engine needs is imported with its module and with nothing else.
"""
