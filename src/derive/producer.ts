import type { ExactJson } from '#chain/json.ts'
import { producerKeys } from '#indices/producer.ts'
import { removesOnApply } from './eras.ts'
import { changeProducer, producerOf } from './producer-draft.ts'
import { textAt } from './receipt.ts'
import type { TxScope } from './scope.ts'
import type { State } from './state.ts'
import { versionOf } from './version.ts'

const APPLY = 0
const APPROVED = 1
const UNAPPLY = 2
const UNAPPLY_APPROVED = 3

/** Changes of the producer table by receipts of vote_producer.iost, or by an older contract's actions. */
export const applyProducer = (at: TxScope, name: string, args: readonly ExactJson[]): void => {
  const { state } = at.scope
  const account = textAt(args, 0)
  if (account === undefined) return
  switch (name) {
    case 'initProducer':
      register(state, account, {
        pubkey: textAt(args, 1) ?? '',
        status: APPROVED,
        online: true,
        is_producer: true,
      })
      return
    case 'applyRegister':
      register(state, account, {
        pubkey: textAt(args, 1) ?? '',
        loc: textAt(args, 2) ?? '',
        url: textAt(args, 3) ?? '',
        net_id: textAt(args, 4) ?? '',
        is_producer: args[5] === true,
      })
      return
    case 'updateProducer':
      update(state, account, args)
      return
    case 'applyUnregister':
      if (producerOf(state, account).status !== APPLY) changeProducer(state, account, { status: UNAPPLY })
      else if (removesOnApply(versionOf(at.scope, 'vote_producer.iost'))) unregister(state, account)
      return
    case 'approveRegister':
      changeProducer(state, account, { status: APPROVED })
      return
    case 'approveUnregister':
    case 'forceUnregister':
      changeProducer(state, account, { status: UNAPPLY_APPROVED })
      return
    case 'unregister':
      unregister(state, account)
      return
    case 'logInProducer':
      changeProducer(state, account, { online: true })
      return
    case 'logOutProducer':
      changeProducer(state, account, { online: false })
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

const register = (state: State, account: string, entry: Entry): void => {
  const { pubkey, loc = '', url = '', net_id = '', is_producer, status = APPLY, online = false } = entry
  changeProducer(state, account, { registered: true, pubkey, loc, url, net_id, is_producer, status, online })
  state.put(producerKeys, { id: pubkey, account })
}

const update = (state: State, account: string, args: readonly ExactJson[]): void => {
  const pubkey = textAt(args, 1) ?? ''
  const before = producerOf(state, account)
  if (before.pubkey !== pubkey) {
    if (before.pubkey !== '') state.put(producerKeys, { id: before.pubkey, account: '' })
    state.put(producerKeys, { id: pubkey, account })
  }
  const [loc = '', url = '', net_id = ''] = [textAt(args, 2), textAt(args, 3), textAt(args, 4)]
  changeProducer(state, account, { pubkey, loc, url, net_id })
}

/** The row leaves the table and its key is free again; votes stay with the account. */
const unregister = (state: State, account: string): void => {
  const before = producerOf(state, account)
  if (!before.registered) return
  state.put(producerKeys, { id: before.pubkey, account: '' })
  changeProducer(state, account, { registered: false })
}
