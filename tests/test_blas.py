"""BLAS keeps to one thread inside, in whichever thread that is, and has its own again after it."""

import threading

import pytest
import scipy.linalg.cython_blas  # noqa: F401 - so that its BLAS is there
from threadpoolctl import threadpool_info, threadpool_limits

from topicprism.kernels.blas import one_blas_thread


def blas():
    return {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}


@pytest.fixture
def two():
    with threadpool_limits(2, user_api="blas"):
        if blas() != {2}:
            pytest.skip("BLAS here has one thread, whatever it is asked for")
        yield


def by_another_thread(function):
    found = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]


def inside():
    with one_blas_thread:
        return blas()


def test_in_any_thread(two):
    for _ in range(2):
        assert inside() == {1}
        assert by_another_thread(inside) == {1}
        assert blas() == {2}


def test_the_last_to_leave_may_be_another_thread_than_the_first_to_come(two):
    came, may_leave = threading.Event(), threading.Event()

    def wait_inside():
        with one_blas_thread:
            came.set()
            may_leave.wait(30)
            return blas()

    found = []
    thread = threading.Thread(target=lambda: found.append(wait_inside()))
    with one_blas_thread:
        thread.start()
        assert came.wait(30)
    assert blas() == {1}
    may_leave.set()
    thread.join()
    assert found == [{1}]
    assert blas() == {2}
