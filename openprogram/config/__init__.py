"""The settings: what can be set, how it is read, and the one locked way to change it.

`config.json` in the state directory holds one JSON object. Keys that nobody here knows are kept as
they are; a file that cannot be parsed is never written over. No environment variable sets any of
them.
"""

from __future__ import annotations

from openprogram.config.settings import Mode as Mode
from openprogram.config.settings import RecordReplaySettings as RecordReplaySettings
from openprogram.config.settings import Settings as Settings
from openprogram.config.settings import read_record_replay as read_record_replay
from openprogram.config.settings import read_settings as read_settings
from openprogram.config.settings import record_replay_of as record_replay_of
from openprogram.config.settings import turn_off_record_replay as turn_off_record_replay
from openprogram.config.settings import update_settings as update_settings
from openprogram.config.specs import SETTINGS as SETTINGS
from openprogram.config.specs import SettingsDocument as SettingsDocument
from openprogram.config.specs import SettingSpec as SettingSpec
from openprogram.config.specs import SettingType as SettingType
from openprogram.config.specs import SettingValue as SettingValue
from openprogram.config.specs import find_setting as find_setting
