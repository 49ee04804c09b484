import type { DocOf } from '#indices/define.ts'
import type { ListDoc } from '#indices/list.ts'
import type { ListedRecord, RecordDoc } from '#indices/record.ts'
import type { AnyIndex, HistoryIndex, NamedIndex, StateIndex } from '#indices/registry.ts'
import type { Identity, Published } from './published.ts'

/** Used by services: each answer is of one published height. */
export type ReadPort = {
  /** undefined: nothing published yet. */
  published(): Promise<Published | undefined>
  identity(): Promise<Identity | undefined>
  /**
   * Runs `work` on a view of one published height, and again if the height moved meanwhile.
   * Throws 'unavailable': nothing published, out of reach or, but for auditors (`damaged`), not `whole`; else 'deadline'.
   */
  read<T>(work: (view: View) => Promise<T>, options?: ReadOptions): Promise<T>
  /**
   * A view of the published height that stays readable while later ones are published, for what is longer than an answer:
   * it costs the store space until it is closed. `state`: the indices of state that it reads. Throws as `read` does. What
   * is read once it can no longer be kept, or after `signal` has aborted, throws.
   */
  hold(options: HoldOptions): Promise<Held>
}

export type HoldOptions = { readonly state: readonly StateIndex[]; readonly signal?: AbortSignal }

/** A view that is held until it is closed. */
export type Held = { readonly view: View; readonly close: () => void }

export type ReadOptions = { readonly signal?: AbortSignal; readonly damaged?: true }

/** A read that has ended: when it began, by `performance.now()`, what it threw, and how often it began again. */
export type ReadEnd = { readonly since: number; readonly error?: unknown; readonly retries?: number }

/** Whether all documents that are wanted are among some. */
export type IsEnough<I extends HistoryIndex> = (docs: readonly DocOf<I>[]) => boolean

/** One published height, seen as a whole. */
export type View = {
  readonly at: Published
  /** The same object as long as whatever a view shows is the same, as far as the store itself keeps what it has read. Absent: it is not known. */
  readonly edition?: object
  /** A thing by its id. */
  get<I extends AnyIndex>(index: I, id: string): Promise<DocOf<I> | undefined>
  /** Things by their ids, in that order. */
  getMany<I extends AnyIndex>(index: I, ids: readonly string[]): Promise<readonly (DocOf<I> | undefined)[]>
  /**
   * Documents whose field equals `value` (a field of `finds`), at most a handful, in order of id. Where those
   * that it has found are not enough, the store makes sure that it lacks none.
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
  /** `find` for several values, each given once, in one request: the documents of all of them, in order of id. */
  findAny<I extends HistoryIndex>(
    index: I,
    field: I['finds'][number],
    values: readonly bigint[],
    isEnough?: IsEnough<I>,
  ): Promise<readonly DocOf<I>[]>
  /** `limit` documents of an order of the index after the first `offset`; `group` where the order has one. */
  page<I extends StateIndex>(
    index: I,
    order: keyof I['orders'] & string,
    options: { readonly group?: string; readonly offset: number; readonly limit: number },
  ): Promise<readonly DocOf<I>[]>
  /** Rows `first` … `last` (ordinals from 1, inclusive) of a list, ascending. The cost is the same at any depth. */
  records(list: ListDoc, first: number, last: number): Promise<readonly ListedRecord[]>
  /**
   * Rows that came to some lists, with all their places, in chain order: those of blocks above `height` whose ordinal in
   * one of the lists is above the one given for it. `lists`: ordinals by the numbers of lists. The cost depends on the
   * rows of these blocks, and hardly on the number of lists. A row that is lost is left out: the ordinals have a gap then.
   */
  newRecords(lists: ReadonlyMap<number, number>, height: number): Promise<readonly RecordDoc[]>
  /**
   * When the rows with these ordinals of a list were made, in one request: `ordinals` ascending, each once, within
   * 1 … `list.count`, from one to 32.
   */
  moments(list: ListDoc, ordinals: readonly number[]): Promise<readonly Moment[]>
  /**
   * For work that may take longer than the next heights to be published: a view of this height or a later one that stays
   * readable meanwhile, as `ReadPort.hold`. Absent: this view stays readable itself.
   */
  readonly hold?: (state: readonly StateIndex[]) => Promise<Held>
}

/** When a row was made. Along a list neither ever falls: rows of one block share both. */
export type Moment = {
  readonly height: number
  /** Time of that block, nanoseconds since 1970. */
  readonly time: bigint
}
