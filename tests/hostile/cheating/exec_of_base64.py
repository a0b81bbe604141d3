"""Execute an encoded program.

Group: attention
Expected: forbidden
Stopped by: traps, static look, notices
"""

import base64

exec(
    base64.b64decode("ZnJvbSB0b3JjaC5ubi5mdW5jdGlvbmFsIGltcG9ydCBzY2FsZWRfZG90X3Byb2R1Y3RfYXR0ZW50aW9uIGFzIGF0dGVuZA==")
)
