import type { ExactJson } from '#chain/json.ts'
import { producerKeys } from '#indices/producer.ts'
import { removesOnApply } from './eras.ts'
import { changeProducer, producerOf } from './producer-draft.ts'
import { textAt } from './receipt.ts'
import type { Scope, TxScope } from './scope.ts'
import { versionOf } from './version.ts'

const APPLY = 0
const APPROVED = 1
const UNAPPLY = 2
const UNAPPLY_APPROVED = 3

/** Changes of the producer table by receipts of vote_producer.iost, or by an older contract's actions. */
export const applyProducer = (at: TxScope, name: string, args: readonly ExactJson[]): void => {
  const { scope } = at
  const account = textAt(args, 0)
  if (account === undefined) return
  switch (name) {
    case 'initProducer':
      register(scope, account, {
        pubkey: textAt(args, 1) ?? '',
        status: APPROVED,
        online: true,
        is_producer: true,
      })
      return
    case 'applyRegister':
      register(scope, account, {
        pubkey: textAt(args, 1) ?? '',
        loc: textAt(args, 2) ?? '',
        url: textAt(args, 3) ?? '',
        net_id: textAt(args, 4) ?? '',
        is_producer: args[5] === true,
      })
      return
    case 'updateProducer':
      update(scope, account, args)
      return
    case 'applyUnregister':
      if (producerOf(scope.state, account).status !== APPLY)
        changeProducer(scope, account, { status: UNAPPLY })
      else if (removesOnApply(versionOf(at.scope, 'vote_producer.iost'))) unregister(scope, account)
      return
    case 'approveRegister':
      changeProducer(scope, account, { status: APPROVED })
      return
    case 'approveUnregister':
    case 'forceUnregister':
      changeProducer(scope, account, { status: UNAPPLY_APPROVED })
      return
    case 'unregister':
      unregister(scope, account)
      return
    case 'logInProducer':
      changeProducer(scope, account, { online: true })
      return
    case 'logOutProducer':
      changeProducer(scope, account, { online: false })
      return
  }
}

type Entry = {
  readonly pubkey: string
  readonly loc?: string
  readonly url?: string
  readonly net_id?: string
  readonly is_producer: boolean
  readonly status?: number
  readonly online?: boolean
}

const register = (scope: Scope, account: string, entry: Entry): void => {
  const { pubkey, loc = '', url = '', net_id = '', is_producer, status = APPLY, online = false } = entry
  changeProducer(scope, account, { registered: true, pubkey, loc, url, net_id, is_producer, status, online })
  scope.state.put(producerKeys, { id: pubkey, account })
}

const update = (scope: Scope, account: string, args: readonly ExactJson[]): void => {
  const { state } = scope
  const pubkey = textAt(args, 1) ?? ''
  const before = producerOf(state, account)
  if (before.pubkey !== pubkey) {
    if (before.pubkey !== '') state.put(producerKeys, { id: before.pubkey, account: '' })
    state.put(producerKeys, { id: pubkey, account })
  }
  const [loc = '', url = '', net_id = ''] = [textAt(args, 2), textAt(args, 3), textAt(args, 4)]
  changeProducer(scope, account, { pubkey, loc, url, net_id })
}

/** The row leaves the table and its key is free again; votes stay with the account. */
const unregister = (scope: Scope, account: string): void => {
  const { state } = scope
  const before = producerOf(state, account)
  if (!before.registered) return
  state.put(producerKeys, { id: before.pubkey, account: '' })
  changeProducer(scope, account, { registered: false, unregistered: scope.block.height })
}
