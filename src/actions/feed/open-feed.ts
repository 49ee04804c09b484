import { Failure } from '#failure/failure.ts'
import { headAt } from '#head/shown.ts'
import type { Published, View } from '#store/port.ts'
import { type AnswerDeps, type Call, inTurn, readCall, type Turn } from '../answer.ts'
import type { Action, Context } from '../define.ts'
import { refuseBeyondLoaded } from '../find/loading.ts'
import type { Reader, Shown } from './groups.ts'
import type { FeedHub } from './hub.ts'
import type { HeadNow, Mail, Mailbox, Piece } from './mailbox.ts'
import { type Looked, type Open, type Position, readPage } from './page.ts'
import { idOf, type LastId } from './place.ts'
import { requireFeed } from './requests.ts'

/** The rows of a list from one on, as they come. */
export type Feed = {
  readonly action: Action
  /** The height at which it was opened. */
  readonly at: Published
  /** The `seq` that the first row is to have, unless it was taken back. */
  readonly first: number
  /** The id with which a client goes on that has got nothing yet; undefined: the list has not come so far. */
  readonly id: string | undefined
  /** The blocks above then; undefined: they are not asked for. */
  readonly head: HeadNow | undefined
  /** Ends with a `FeedEnd`, unless the mailbox is closed before. */
  mail(): AsyncGenerator<Mail, void, void>
}

type FeedCall = Call & {
  /** The last event that the client has, when it comes again. */
  readonly last: LastId | undefined
}

type Ways = {
  /** Ends all reading. */
  readonly signal: AbortSignal
  readonly turn: Turn
  readonly hub: FeedHub
  readonly mailbox: Mailbox
  readonly write: Shown['write']
}

/**
 * Opens the feed of a list: from the row behind `last` on, else from `start_seq`, else from the next one that comes.
 * Throws Failure: 'bad_request' also for a list that cannot be followed; then as `answer` does.
 */
export const openFeed = async (deps: AnswerDeps, call: FeedCall, ways: Ways): Promise<Feed> => {
  const { action, params } = readCall(call)
  requireFeed(action, call.query)
  const isHead = params['head'] === 1
  const { signal, turn } = ways
  const { store, node } = deps
  const open = opening(deps, { action, params, isHead, compat: call.options.compat }, signal)
  const start = call.last === undefined ? (params['start_seq'] as bigint | undefined) : call.last.seq + 1n
  const opened = await inTurn(turn, ({ apart }) =>
    store.read(
      async view => {
        const looked = await open(view, apart)
        if (start !== undefined) refuseBeyondLoaded({ view, node }, { start_seq: start }, looked.count)
        return looked
      },
      { signal },
    ),
  )
  const { at, count, head } = opened
  const first = start === undefined ? count + 1 : Math.max(1, Number(start))
  const read: Read = work =>
    inTurn(turn, ({ apart }) => store.read(view => work(view, range => open(view, apart, range)), { signal }))
  const place = isHead ? call.last?.place : undefined
  const begin = { next: first, had: hadBefore(call, first, count), place }
  return {
    action,
    at,
    first,
    id: first - 1 <= count ? idOf(first - 1, place) : undefined,
    head,
    mail: () => mailOf({ ...ways, read, shown: shownOf({ action, isHead }, call, ways), at }, begin),
  }
}

type Asked = ReturnType<typeof readCall> & Pick<Context, 'compat'> & { readonly isHead: boolean }

/** Opens the list of a call at one height, or a part of it. */
const opening = (deps: AnswerDeps, { action, params, isHead, compat }: Asked, signal: AbortSignal) => {
  const { store: _, head: blocksAbove, ...others } = deps
  return async (view: View, apart: Context['apart'], range: object = {}): Promise<Opened> => {
    const branch = headAt(blocksAbove?.shown(), view.at)
    const head = isHead ? branch : undefined
    const given = head === undefined ? { branch } : { branch, head }
    const context = { ...others, ...given, view, compat, signal, apart, lastly: apart }
    const asked = { ...params, start_seq: undefined, sort: 'asc', ...range }
    const listing = await action.source?.open(context, asked)
    if (listing?.followed === undefined) throw new Failure('defect', `${action.action} has no feed.`)
    const { followed, total, stored = total } = listing
    return { at: view.at, listing, followed, count: Math.min(stored, total), head }
  }
}

type Opened = Looked & { readonly head: HeadNow | undefined }

/**
 * How many rows the client has, or had no wish for, when it begins: they must not change behind its back. One that begins
 * beyond the end of the list has said nothing about the rows before.
 */
const hadBefore = ({ last }: FeedCall, first: number, count: number): number =>
  last === undefined ? (first <= count + 1 ? first - 1 : 0) : Number(last.seq)

/** Readers of equal names are sent the same bytes: whatever changes the row of a list is in the name. */
const shownOf = (
  { action: { module, action }, isHead }: Pick<Asked, 'action' | 'isHead'>,
  { options: { compat, numbers } }: Call,
  { write }: Ways,
): Omit<Shown, 'rows'> => ({
  name: `${module} ${action} ${compat} ${numbers} ${isHead}`,
  isHead,
  write,
})

type Read = <T>(work: (view: View, open: Open) => Promise<T>) => Promise<T>

type Following = Pick<Ways, 'hub' | 'mailbox'> & {
  readonly read: Read
  readonly shown: Omit<Shown, 'rows'>
  readonly at: Published
}

/** The rows from `next` on, then each new one; those up to `had` are with the client. */
const mailOf = async function* (following: Following, begin: Position): AsyncGenerator<Mail, void, void> {
  const { mailbox } = following
  try {
    yield* sentFrom(following, begin)
  } catch (error) {
    const failure = error instanceof Failure ? error : new Failure('defect', String(error), { cause: error })
    yield mailbox.ending() ?? { kind: 'end', failure }
  }
}

const sentFrom = async function* (following: Following, begin: Position): AsyncGenerator<Mail, void, void> {
  const { hub, mailbox, read, shown } = following
  let position = begin
  let { at } = following
  const sent = ({ last, place }: Piece): void => {
    position = last === undefined ? { ...position, place } : { next: last + 1, had: last, place }
  }
  for (;;) {
    await hub.settled()
    const landmarks = hub.landmarks()
    const asked = { since: at, position, shown, landmarks }
    const page = await read((view, open) => readPage(view, open, asked))
    if (page.kind === 'reset') {
      yield page
      return
    }
    at = page.reader.end
    if (page.piece !== undefined) {
      yield page.piece
      sent(page.piece)
    }
    if (position.next <= page.reader.count) continue
    const reader = { ...page.reader, next: position.next, mailbox }
    if (!hub.join(reader)) continue
    if (!(yield* newRows(following, reader, sent))) return
  }
}

/** What the hub has for a reader; true in the end: the reader is behind. */
const newRows = async function* (
  { hub, mailbox }: Pick<Following, 'hub' | 'mailbox'>,
  reader: Reader,
  sent: (piece: Piece) => void,
): AsyncGenerator<Mail, boolean, void> {
  try {
    for (;;) {
      const mail = await mailbox.take()
      if (mail === undefined) return false
      if (mail.kind === 'behind') return true
      yield mail
      if (mail.kind === 'rows') sent(mail)
      else if (mail.kind !== 'beat') return false
    }
  } finally {
    hub.leave(reader)
  }
}
