/** The whole recording is derived once for all these comparisons. */
import './recording/accounts.ts'
import './recording/ledger.ts'
import './recording/producers.ts'
import './recording/records.ts'
import './recording/resources.ts'
