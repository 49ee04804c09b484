/**
 * What was different in the chain's earlier years, in one table (source: the history of
 * the node's `config/genesis/contract/vote_producer.js` and `vm/native/token_v*.go`). Everything else in this folder is
 * written for today's chain and asks here.
 *
 * | when | what | so |
 * |---|---|---|
 * | before block 38,500,000 (3.3.0) | failed transactions may keep receipts and returns | what failed is never applied, whatever it carries (`applies` in `chain/effects.ts`) |
 * | node until 3.9.2 | delayed transactions: SUCCESS, a delay above 0, nothing carried out yet | actions and receipts of a transaction with a delay are not applied; the later one with `referred_tx` is |
 * | same | `system.iost/cancelDelaytx` | changes no document |
 * | vote_producer.iost 1.0.0 … 1.0.5 | registers and votes emit no receipt | an action without its own receipt is applied from its arguments (`SILENT_ACTIONS`) |
 * | vote_producer.iost 1.0.0 | applyUnregister of a producer that was never approved removes it at once | told by the version in the deployed code (`removesOnApply`) |
 * | vote_producer.iost 1.0.0 … 1.0.6 | `voteFor [payer, voter, producer, amount]` | counts as the voter's vote |
 * | vote_producer.iost 1.0.0 … 1.0.5 | candidateWithdraw without receipt | its transfers say what was paid |
 * | token.iost 1.0.0 | the signer's own amount text in receipts (`1.20294517598E7`) | read as that contract read it |
 * | token.iost 1.0.0 … 1.0.2 | transfers to oneself emit nothing | they change nothing |
 * | token.iost 1.0.4 | updateTotalSupply emits nothing | read from the action |
 * | token.iost 1.0.5 | symbols with a namespace, transferNamespace; recycle clears the issuer | symbols may hold a point; namespaces are not stored |
 * | genesis | no receipts of initSetCode, initProducer, ram.iost/issue | read from the actions |
 * | early system contracts | code as base64 of protobuf instead of JSON | `chain/contract-code.ts` reads both |
 *
 * Why no version decides about votes: a loader that starts today learns from the node only today's version of
 * vote_producer.iost. Since 1.0.6 each of these actions emits a receipt that names its account (and voter) whenever it
 * changes anything, but for the two below, so "a successful action without its receipt" is itself the sign of the older
 * contract. Votes that contracts cast from inside before 1.0.6 left no trace but token movements and cannot be told.
 *
 * The two: applyUnregister in status APPLY (changes nothing since 1.0.1), and topupVoterBonus of a producer without votes
 * (returns false). Both are decided by the rules of their file.
 */

/** Actions of vote_producer.iost that change documents, and how many leading arguments name their parties. */
export const SILENT_ACTIONS: ReadonlyMap<string, number> = new Map([
  ['applyRegister', 1],
  ['applyUnregister', 1],
  ['approveRegister', 1],
  ['approveUnregister', 1],
  ['forceUnregister', 1],
  ['unregister', 1],
  ['updateProducer', 1],
  ['logInProducer', 1],
  ['logOutProducer', 1],
  ['vote', 2],
  ['unvote', 2],
  ['voteFor', 3],
  ['topupVoterBonus', 1],
  ['candidateWithdraw', 1],
])

/** vote_producer.iost before 1.0.1: applyUnregister removes a producer in status APPLY. Unknown versions are later ones. */
export const removesOnApply = (version: string | undefined): boolean => version === '1.0.0'

/** Owner of every contract that genesis deploys (go-iost `vm/native/native.go` AdminAccount). */
export const SYSTEM_OWNER = 'admin'

/** A native contract that is there from the start without being deployed. */
export const SYSTEM_CONTRACT = 'system.iost'
