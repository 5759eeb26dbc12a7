"""The thin client: play an environment of a server over HTTP, with nothing but httpx and pydantic."""

from ecom_rlve.client.batch import Failed, Played, Progress
from ecom_rlve.client.client import AsyncEcomEnv, EcomEnv
from ecom_rlve.client.curriculum import AsyncCurriculum, Curriculum
from ecom_rlve.client.errors import (
    CapacityError,
    EcomEnvError,
    EpisodeDoneError,
    EpisodeError,
    EpisodeExistsError,
    EpisodeLostError,
    InfrastructureError,
    InvalidRequestError,
    NotResetError,
    RunError,
    RunPinnedError,
    ServerUnavailableError,
    UnauthorizedError,
    UnexpectedAnswerError,
    UnservableError,
)
from ecom_rlve.client.protocol import StepResult
from ecom_rlve.client.text import render
from ecom_rlve.client.tool_chat import ToolChat

__all__ = [
    "AsyncCurriculum",
    "AsyncEcomEnv",
    "CapacityError",
    "Curriculum",
    "EcomEnv",
    "EcomEnvError",
    "EpisodeDoneError",
    "EpisodeError",
    "EpisodeExistsError",
    "EpisodeLostError",
    "Failed",
    "InfrastructureError",
    "InvalidRequestError",
    "NotResetError",
    "Played",
    "Progress",
    "RunError",
    "RunPinnedError",
    "ServerUnavailableError",
    "StepResult",
    "ToolChat",
    "UnauthorizedError",
    "UnexpectedAnswerError",
    "UnservableError",
    "render",
]
