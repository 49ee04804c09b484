import type { DocOf } from '#indices/define.ts'
import type { ListDoc } from '#indices/list.ts'
import type { ListedRecord, RecordDoc } from '#indices/record.ts'
import type { AnyIndex, HistoryIndex, NamedIndex, StateIndex } from '#indices/registry.ts'
import type { Identity, Published } from './published.ts'

/** For services. Every answer reflects a single published height. */
export type ReadPort = {
  /** undefined: nothing is published yet. */
  published(): Promise<Published | undefined>
  identity(): Promise<Identity | undefined>
  /**
   * Runs `work` on a view of one published height, and again if the height moved meanwhile. Throws
   * 'unavailable' if nothing is published, the store is unreachable or not `whole` (auditors set `damaged` to
   * read it still), and 'deadline' when the time is over.
   */
  read<T>(work: (view: View) => Promise<T>, options?: ReadOptions): Promise<T>
  /**
   * A view of the published height that stays readable while later heights are published, for work longer than one
   * answer. It costs the store space until it is closed. `state`: the indices of state that it reads. Throws as `read`
   * does. Reads throw once the view can no longer be kept, and after `signal` has aborted.
   */
  hold(options: HoldOptions): Promise<HeldView>
}

export type HoldOptions = { readonly state: readonly StateIndex[]; readonly signal?: AbortSignal }

/** A view that stays readable until it is closed. */
export type HeldView = { readonly view: View; readonly close: () => void }

export type ReadOptions = { readonly signal?: AbortSignal; readonly damaged?: true }

/** The calls of a store whose ends it reports. */
type StoreCall = 'published' | 'identity' | 'read' | 'hold' | 'takeOver' | 'state' | 'append' | 'commit'

/** The end of a call: its start by `performance.now()`, its error, and its number of retries. Held views are no reads. */
export type CallEnd = {
  readonly call: StoreCall
  readonly since: number
  readonly error?: unknown
  readonly retries?: number
}

/** Runs a call, and reports its end. */
export type ReportCall = <T>(call: StoreCall, work: () => Promise<T>) => Promise<T>

export function createReports(onCall: ((end: CallEnd) => void) | undefined): ReportCall {
  if (onCall === undefined) return (_, work) => work()
  return async (call, work) => {
    const since = performance.now()
    let failed: Pick<CallEnd, 'error'> | undefined
    try {
      return await work()
    } catch (error) {
      failed = { error }
      throw error
    } finally {
      onCall({ call, since, ...failed })
    }
  }
}

/** Whether the given documents include all wanted ones. */
export type IsEnough<I extends HistoryIndex> = (docs: readonly DocOf<I>[]) => boolean

/** The whole store at one published height. */
export type View = {
  readonly at: Published
  /** The same object while the visible data is the same, as far as the store caches its reads. Absent: unknown. */
  readonly edition?: object
  /** A document by its id. */
  get<I extends AnyIndex>(index: I, id: string): Promise<DocOf<I> | undefined>
  /** Documents by their ids, in the order of the ids. */
  getMany<I extends AnyIndex>(index: I, ids: readonly string[]): Promise<readonly (DocOf<I> | undefined)[]>
  /**
   * Documents whose field equals `value` (a field of `finds`), at most a handful, ordered by id. If
   * `IsEnough` rejects the documents found, the store makes sure that none is lacking.
   */
  find<I extends HistoryIndex>(
    index: I,
    field: I['finds'][number],
    value: bigint,
    isEnough?: IsEnough<I>,
  ): Promise<readonly DocOf<I>[]>
  /**
   * The first `limit` documents whose names (`Index.named`) begin with a text, by name. The cost is the same for any
   * text and any number of documents.
   */
  startingWith<I extends NamedIndex>(index: I, text: string, limit: number): Promise<readonly DocOf<I>[]>
  /** `find` for several distinct values in one request: the documents of all of them, ordered by id. */
  findAny<I extends HistoryIndex>(
    index: I,
    field: I['finds'][number],
    values: readonly bigint[],
    isEnough?: IsEnough<I>,
  ): Promise<readonly DocOf<I>[]>
  /** `limit` documents of an order of the index after the first `offset`; `group` if the order has groups. */
  page<I extends StateIndex>(
    index: I,
    order: keyof I['orders'] & string,
    options: { readonly group?: string; readonly offset: number; readonly limit: number },
  ): Promise<readonly DocOf<I>[]>
  /** Rows `first` … `last` (ordinals from 1, inclusive) of a list, ascending. The cost is the same at any depth. */
  records(list: ListDoc, first: number, last: number): Promise<readonly ListedRecord[]>
  /**
   * Rows added to some lists, with all their places, in chain order: the rows of blocks above `height` whose ordinal in
   * a list exceeds the one given for it. `lists`: ordinals by list number. The cost depends on the rows of these
   * blocks, and hardly on the number of lists. A lost row is omitted and leaves a gap in the ordinals.
   */
  newRecords(lists: ReadonlyMap<number, number>, height: number): Promise<readonly RecordDoc[]>
  /**
   * Heights and times of the rows with these ordinals of a list, in one request. `ordinals`: ascending,
   * distinct, within 1 … `list.count`, from one to 32.
   */
  moments(list: ListDoc, ordinals: readonly number[]): Promise<readonly Moment[]>
  /**
   * For work that may outlast the publication of the next heights: a view of this height or a later one that
   * stays readable, as from `ReadPort.hold`. Absent: this view stays readable itself.
   */
  readonly hold?: (state: readonly StateIndex[]) => Promise<HeldView>
  /** Ends the reads of the work, so that what it waits for next holds nothing of the store. Then only `at` may be used. */
  release(): void
}

/** Height and time of a row. Neither decreases along a list; rows of one block share both. */
export type Moment = {
  readonly height: number
  /** Time of that block, nanoseconds since 1970. */
  readonly time: bigint
}
