"""Manage recordings, and set what the next start does with them; prints nothing.

Nothing here starts the provider runtime. Reading functions change nothing on disk, not even a mode.
"""

from __future__ import annotations

from openprogram.providers.management.deletion import DeletedRecording as DeletedRecording
from openprogram.providers.management.deletion import PrunedRecording as PrunedRecording
from openprogram.providers.management.deletion import PruneReport as PruneReport
from openprogram.providers.management.deletion import delete_recording as delete_recording
from openprogram.providers.management.deletion import prune_recordings as prune_recordings
from openprogram.providers.management.modes import RecordReplayStatus as RecordReplayStatus
from openprogram.providers.management.modes import prepare_record as prepare_record
from openprogram.providers.management.modes import prepare_replay as prepare_replay
from openprogram.providers.management.modes import read_status as read_status
from openprogram.providers.management.modes import turn_off as turn_off
from openprogram.providers.management.selection import Selection as Selection
from openprogram.providers.management.selection import not_found as not_found
from openprogram.providers.management.selection import require_present as require_present
from openprogram.providers.management.selection import resolve_id as resolve_id
from openprogram.providers.management.selection import resolve_selector as resolve_selector
from openprogram.providers.management.selection import selection_of as selection_of
from openprogram.providers.management.summaries import UNTELLABLE_TIMES as UNTELLABLE_TIMES
from openprogram.providers.management.summaries import RecordingSummary as RecordingSummary
from openprogram.providers.management.summaries import find_recordings as find_recordings
from openprogram.providers.management.summaries import is_failed as is_failed
from openprogram.providers.management.summaries import list_recordings as list_recordings
from openprogram.providers.management.summaries import summarize_recording as summarize_recording
from openprogram.providers.management.summaries import verify_recordings as verify_recordings
from openprogram.providers.management.summaries import written_at as written_at
