"""Have the interpreter write a traceback into the result, past every function of the box.

Expected: protocol
Stopped by: protocol
Own: yes
"""

import faulthandler

faulthandler.dump_traceback(file=4)
