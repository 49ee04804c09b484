import { applies } from '#chain/effects.ts'
import { writeJson } from '#chain/json.ts'
import { directVote } from '#chain/stake.ts'
import { applyAccount } from './account.ts'
import { applyCode, applyNestedCode } from './contract.ts'
import {
  applyProducer,
  applyProducerEvent,
  applyWithdrawal,
  awardByBonus,
  awardByTransfers,
  type ProducerEvent,
} from './producer.ts'
import { findText, type ParsedReceipt, parseActionArguments, parseReceipt } from './receipt.ts'
import { applyGas, openMarket, payGas, payRam, ramTrades } from './resources.ts'
import { SILENT_ACTIONS, type TxScope } from './scope.ts'
import { applyToken, type Movement, updateTotalSupply } from './token.ts'
import { applyToken721 } from './token721.ts'

const VOTE_PRODUCER = 'vote_producer.iost'

/** Effects of a transaction that its rows show. */
export type Effects = {
  /** Token movements by the position of their receipts. */
  readonly movements: ReadonlyMap<number, Movement>
  /** Ids of new contracts by the position of the actions that deployed them. */
  readonly deployed: ReadonlyMap<number, string>
}

/**
 * Applies the changes of a transaction. A failed or delayed one changes nothing but gas and RAM: the chain keeps a
 * delayed transaction in its sender's RAM until it is executed, even if that fails (go-iost `vm/isolator.go`
 * delDelaytx, until node 3.9.2). The RAM that a receipt names was paid or returned whatever the status.
 */
export function applyTransaction(at: TxScope): Effects {
  const movements = new Map<number, Movement>()
  const deployed = new Map<number, string>()
  if (applies(at.tx)) {
    applyActions(at, deployed)
    applyReceipts(at, movements)
    applySilentActions(at, movements)
    at.tx.actions.forEach(({ contract, actionName }, position) => {
      if (contract === 'token.iost' && actionName === 'updateTotalSupply') updateTotalSupply(at, position)
    })
  }
  payRam(at)
  payGas(at)
  return { movements, deployed }
}

/** Applies effects that only actions show. They precede those of receipts, which rely on them in genesis. */
function applyActions(at: TxScope, deployed: Map<number, string>): void {
  const genesis = at.scope.block.height === 0
  at.tx.actions.forEach((action, position) => {
    const { contract, actionName } = action
    if (contract === 'system.iost') {
      const id = applyCode(at, actionName, position)
      if (id !== undefined) deployed.set(position, id)
    } else if (genesis && contract === 'ram.iost' && actionName === 'issue') openMarket(at, position)
    else if (genesis && contract === VOTE_PRODUCER && actionName === 'initProducer')
      applyProducer(at, actionName, parseActionArguments(action) ?? [])
  })
  const within = applyNestedCode(at)
  if (within !== undefined) deployed.set(...within)
}

function applyReceipts(at: TxScope, movements: Map<number, Movement>): void {
  const seeTrade = ramTrades(at)
  at.tx.receipt.receipts.forEach((receipt, position) => {
    const parsed = parseReceipt(receipt)
    switch (parsed.contract) {
      case 'token.iost': {
        const movement = applyToken(at, parsed)
        if (movement === undefined) return
        movements.set(position, movement)
        seeTrade(parsed.name, movement)
        if (parsed.name === 'transfer') awardByBonus(at, movement)
        return
      }
      case 'auth.iost':
        applyAccount(at, parsed)
        return
      case 'token721.iost':
        applyToken721(at, parsed)
        return
      case 'gas.iost':
        applyGas(at, parsed)
        return
      case VOTE_PRODUCER:
        if (TOLD.has(parsed.name)) at.scope.statistics.votes_told = true
        applyProducerEvent(at, { name: parsed.name, args: parsed.args, hasReceipt: true })
        if (parsed.name === 'voterWithdraw') applyWithdrawal(at, parsed, position)
        return
    }
  })
}

/** Receipts only of those versions of vote_producer.iost that emit a receipt for every event about votes. */
const TOLD: ReadonlySet<string> = new Set(['vote', 'unvote', 'topupVoterBonus', 'topupCandidateBonus'])

/** Applies votes and producers' actions without their own receipt, made by older contracts (`scope.ts`). */
function applySilentActions(at: TxScope, movements: ReadonlyMap<number, Movement>): void {
  const { actions, receipt } = at.tx
  const hasSilent = actions.some(action =>
    action.contract === VOTE_PRODUCER ? SILENT_ACTIONS.has(action.actionName) : directVote(action) !== undefined,
  )
  if (!hasSilent) return
  const receiptCounts = new Map<string, number>()
  for (const each of receipt.receipts) {
    const parsed = parseReceipt(each)
    const key = parsed.contract === VOTE_PRODUCER ? partiesKey(parsed.name, parsed.args) : undefined
    if (key !== undefined) receiptCounts.set(key, (receiptCounts.get(key) ?? 0) + 1)
  }
  actions.forEach((action, position) => {
    const vote = directVote(action)
    if (vote !== undefined) applyProducerEvent(at, { ...vote, hasReceipt: false })
    if (action.contract !== VOTE_PRODUCER) return
    const args = parseActionArguments(action) ?? []
    const key = partiesKey(action.actionName, args)
    if (key === undefined) return
    const receipts = receiptCounts.get(key) ?? 0
    if (receipts > 0) receiptCounts.set(key, receipts - 1)
    else applySilent(at, { name: action.actionName, args, position }, movements)
  })
}

function partiesKey(name: string, args: ParsedReceipt['args']): string | undefined {
  const parties = SILENT_ACTIONS.get(name)
  return parties === undefined ? undefined : writeJson([name, ...args.slice(0, parties)])
}

function applySilent(
  at: TxScope,
  { name, args, position }: Omit<ProducerEvent, 'hasReceipt'> & { readonly position: number },
  movements: ReadonlyMap<number, Movement>,
): void {
  if (name === 'candidateWithdraw') {
    awardByTransfers(at, findText(args, 0) ?? '', [...movements.values()])
    return
  }
  // A producer without votes gets no bonus: the action returns false.
  if (name === 'topupVoterBonus' && /^\["?false"?\]$/.test(at.tx.receipt.returns[position] ?? '')) return
  applyProducerEvent(at, { name, args, hasReceipt: false })
}
