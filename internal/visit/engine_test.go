package visit_test

import _ "concord/linalg/linalgtest" // tests compute as programs do
