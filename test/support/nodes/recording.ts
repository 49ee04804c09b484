import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { type ContractCode, LINKED, type LoadedBlock } from '#chain/block.ts'
import { decodeBlock, decodeContract } from '#chain/decode.ts'
import { listUnknownContracts } from '#chain/effects.ts'
import { elementSpans, memberSpans } from '#chain/json.ts'
import { openRecording, type RecordedCall, type Recording } from '#test/replay/recording.ts'
import { ROOT } from '../root.ts'

const RECORDING = join(ROOT, 'test/chain/devnet')

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}

export const recording: () => Promise<Recording> = once(() => openRecording(RECORDING))

/** Recorded calls of the node at the last height. */
export const rpcCalls = async (): Promise<readonly RecordedCall[]> => (await recording()).calls()

/** Texts of the recorded calls with status 200, by method, path and body: `GET /getRAMInfo`. */
export const rpcAnswers: () => Promise<ReadonlyMap<string, string>> = once(
  async () =>
    new Map(
      (await rpcCalls())
        .filter(({ status }) => status === 200)
        .map(({ method, path, body, text }) => [`${method} ${path}${body === undefined ? '' : ` ${body}`}`, text]),
    ),
)

async function codesOf(): Promise<(id: string) => ContractCode> {
  const answers = await rpcAnswers()
  return id => {
    const text = answers.get(`GET /getContract/${id}/true`)
    if (text === undefined) throw new Error(`No recorded getContract of ${id}.`)
    return decodeContract(text)
  }
}

/** Replaces a lazy property, at its first use, by its value. */
function settle<T extends object, K extends keyof T & string>(of: T, name: K, value: T[K]): T[K] {
  Object.defineProperty(of, name, { value, enumerable: true, configurable: true, writable: true })
  return value
}

/**
 * All blocks in order, with the code of system contracts from the recorded node. Each block is decoded when
 * it is first used: decoding all of them takes seconds, and most tests use a few.
 */
export const recordedBlocks: () => Promise<readonly LoadedBlock[]> = once(async () => {
  const { height, blockText } = await recording()
  const codeOf = await codesOf()
  return Array.from(
    { length: height + 1 },
    (_, at): LoadedBlock => ({
      get block() {
        return settle(this, 'block', decodeBlock(blockText(at) ?? ''))
      },
      get systemCode() {
        return settle(this, 'systemCode', listUnknownContracts(this.block).map(codeOf))
      },
      proof: LINKED,
    }),
  )
})

/** JSON with Maps for objects, in the order written, so that keys such as `__proto__` and `12345` are safe. */
export type Tree = string | number | boolean | null | readonly Tree[] | ReadonlyMap<string, Tree>

function treeAt(text: string, from: number, to: number): Tree {
  if (text[from] === '{')
    return new Map([...memberSpans(text, from)].map(([key, [start, end]]) => [key, treeAt(text, start, end)]))
  if (text[from] === '[') return elementSpans(text, from).map(([start, end]) => treeAt(text, start, end))
  return JSON.parse(text.slice(from, to)) as Tree
}

/** Parses JSON whose keys are names of the chain. Numbers above 2^53 are not exact. */
export function parseTree(text: string): Tree {
  const trimmed = text.trim()
  JSON.parse(trimmed)
  return treeAt(trimmed, 0, trimmed.length)
}

type Names<T> = ReadonlyMap<string, T>

/** The node's contract storage at the last height (`state.json`), amounts in smallest units unless noted. */
export type Oracle = {
  /** symbol → owner → amount, including rows of zero. */
  readonly balances: Names<Names<string>>
  /** symbol → owner → entries with `amount` and `ftime`, including expired ones. A list may be empty. */
  readonly frozen: Names<Names<readonly Names<string>[]>>
  readonly tokens: Names<Names<string>>
  readonly accounts: Names<Names<Tree>>
  readonly producers: Names<Names<Tree>>
  /** Public key → account. */
  readonly producerKeys: Names<string>
  /** producer → voter → votes in IOST. */
  readonly votes: Names<Names<string>>
  readonly voterVotes: Names<Names<Tree>>
  readonly producerVotes: Names<Names<Tree>>
  /** Contract → owner. */
  readonly contracts: Names<string>
  readonly ramInfo: Names<string>
  /** pledger → beneficiary → amount × 10^8. */
  readonly gasPledges: Names<Names<string>>
  readonly gasTotals: Names<string>
  /** Rows of the remaining contracts: id → `KV` or `MAP` → key → value. */
  readonly other: Names<Names<Names<Tree>>>
}

export const oracle: () => Promise<Oracle> = once(async () => {
  const text = gunzipSync(await readFile(join(RECORDING, 'state.json.gz'))).toString()
  const state = parseTree(text) as ReadonlyMap<string, Tree>
  const named = [...state].map(([name, value]) => [name.replace(/_(\w)/g, (_, first) => first.toUpperCase()), value])
  return Object.fromEntries(named) as Oracle
})
