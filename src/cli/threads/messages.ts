import type { Failure } from '#failure/failure.ts'
import type { HeadMessage } from '#head/passing.ts'
import type { Health } from '#node/health.ts'
import type { OperatorFiles } from '../operator-files.ts'
import type { Address } from '../readers.ts'
import type { Values } from '../settings.ts'
import type { ServingMemory } from './memory.ts'

/** The first message's contents: all that a thread needs to serve. */
export type Task = {
  readonly values: Values
  readonly version: string
  readonly address: Address
  /** The number of the thread, from 0. */
  readonly thread: number
  readonly files: OperatorFiles
  readonly memory: ServingMemory
  /** Absent: no node is set, or none was asked yet. */
  readonly health?: Health
  /** The blocks above the published one, all of them; absent: no node is set. */
  readonly head?: HeadMessage
}

/** A message of the main thread to a thread that serves. */
export type ToThread =
  | { readonly type: 'serve'; readonly task: Task }
  | { readonly type: 'files'; readonly files: OperatorFiles }
  | { readonly type: 'health'; readonly health: Health }
  /** Changes of the head blocks since the last message. */
  | { readonly type: 'head'; readonly head: HeadMessage }
  /** The last lines have been taken; the next ones may come. */
  | { readonly type: 'logged' }
  | { readonly type: 'stop' }

/** A message of a thread that serves to the main thread. */
export type FromThread =
  | { readonly type: 'listening' }
  /** It could not begin, and ends. */
  | { readonly type: 'failed'; readonly failure: FailureText }
  | { readonly type: 'lines'; readonly lines: readonly string[] }
  /** It answers nothing any more, and everything of it is written. */
  | { readonly type: 'stopped' }

/** A Failure as far as a message can carry it. */
export type FailureText = Pick<Failure, 'kind' | 'message' | 'help'>
