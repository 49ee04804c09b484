import type { Failure } from '#failure/failure.ts'
import type { HeadMessage } from '#head/head-message.ts'
import type { Health } from '#node/health.ts'
import type { OperatorFiles } from '../operator-files.ts'
import type { Address } from '../readers.ts'
import type { Values } from '../settings.ts'
import type { ServingMemory } from './memory.ts'

/** The content of the first message: everything a thread needs to serve. */
export type Task = {
  readonly values: Values
  readonly version: string
  readonly address: Address
  /** The number of the thread, from 0. */
  readonly thread: number
  readonly files: OperatorFiles
  readonly memory: ServingMemory
  /** Health of the nodes; absent: no node is set, or none was probed yet. */
  readonly health?: Health
  /** All head blocks; absent: no node is set. */
  readonly head?: HeadMessage
}

/** A message from the main thread to a serving thread. */
export type ToThread =
  | { readonly type: 'serve'; readonly task: Task }
  | { readonly type: 'files'; readonly files: OperatorFiles }
  | { readonly type: 'health'; readonly health: Health }
  /** Changes of the head blocks since the last message. */
  | { readonly type: 'head'; readonly head: HeadMessage }
  /** The last lines were written; the next ones may be sent. */
  | { readonly type: 'logged' }
  | { readonly type: 'stop' }

/** A message from a serving thread to the main thread. */
export type FromThread =
  | { readonly type: 'listening' }
  /** The thread could not start, and ends. */
  | { readonly type: 'failed'; readonly failure: FailureText }
  | { readonly type: 'lines'; readonly lines: readonly string[] }
  /** The thread answers no more requests, and all its lines are written. */
  | { readonly type: 'stopped' }

/** The parts of a Failure that a message can carry. */
export type FailureText = Pick<Failure, 'kind' | 'message' | 'help'>
