"""Settings of the whole suite: property tests are repeatable and do not judge the speed of the machine."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "suite", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("suite")
