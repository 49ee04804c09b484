import { applies } from '#chain/effects.ts'
import { applyAccount } from './account.ts'
import { applyCode, applyNestedCode } from './contract.ts'
import { applyProducer, applyProducerReceipt, applySilentActions, awardByBonus } from './producer.ts'
import { parseActionArguments, parseReceipt } from './receipt.ts'
import { applyGas, openMarket, payGas, payRam, ramTrades } from './resources.ts'
import type { TxScope } from './scope.ts'
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
  const deployed = applyActions(at)
  if (applies(at.tx)) {
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

/**
 * Applies effects that only actions show. They precede those of receipts, which rely on them in genesis. Returns the ids
 * of new contracts (`Effects`).
 */
export function applyActions(at: TxScope): ReadonlyMap<number, string> {
  const deployed = new Map<number, string>()
  if (!applies(at.tx)) return deployed
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
  return within === undefined ? deployed : deployed.set(...within)
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
        applyProducerReceipt(at, parsed, position)
        return
    }
  })
}
