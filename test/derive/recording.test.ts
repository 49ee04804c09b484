/** The whole recording, which is derived once for all that is compared with it. */
import './recording/accounts.ts'
import './recording/ledger.ts'
import './recording/producers.ts'
import './recording/records.ts'
import './recording/resources.ts'
