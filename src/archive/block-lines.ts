import { decodeBase58 } from '#chain/base58.ts'
import type { Block, ContractCode } from '#chain/block.ts'
import { decodeOrigInfo, headHash, infoForms, type RawHead } from '#chain/head.ts'
import { parseAnswer } from '#chain/json-fields.ts'
import { Failure } from '#failure/failure.ts'

/**
 * A block in an archive: lines of text in a fixed order and form, so that the same block always makes the same bytes.
 * The first line is the header as getBlockHeaderByRange returns it, the second the transactions as
 * getBlockTxsByContract returns them. Optional lines follow, each with a one-letter prefix. `r` is the response of
 * getRawBlockByNumber in base64, since it may not be valid UTF-8. `c` is a response of getContract. `i` and `o` are the
 * `info` and `orig_info` of getBlockByNumber when they do not follow from the header.
 */
export type BlockLines = {
  readonly height: number
  readonly head: string
  readonly transactions: string
  readonly more: readonly string[]
}

/** The content of a block that an archive stores. */
export type ArchivedBlock = {
  readonly block: Block
  /** Signature of the block's header as nodes return it, `{algorithm, sig, pubKey}`; undefined: none. */
  readonly sign: unknown
  /** The node's raw block; present when the proof of the block needs it. */
  readonly raw?: Uint8Array | undefined
  readonly code: readonly ContractCode[]
}

const base64 = (hash: string): string => Buffer.from(decodeBase58(hash)).toString('base64')

/** Placeholder for a signature that is not stored. */
export const NO_SIGN = { algorithm: 0, sig: '', pubKey: '' }

/** The lines of a block. Throws Failure 'bad_block' when the hash of its header is not the block's hash. */
export function formatBlockLines({ block, sign = NO_SIGN, raw, code }: ArchivedBlock): BlockLines {
  const { height, version, witness, time } = block
  const info = Buffer.from(formatBlockInfo(block))
  const head = {
    version,
    parentHash: base64(block.parentHash),
    txMerkleHash: base64(block.txMerkleHash),
    txReceiptMerkleHash: base64(block.txReceiptMerkleHash),
    info: info.toString('base64'),
    number: String(height),
    witness,
    time: String(time),
  }
  const { algorithm, sig, pubKey } = sign as typeof NO_SIGN
  return {
    height,
    head: JSON.stringify({ head, sign: { algorithm, sig, pubKey } }),
    transactions: `[${block.transactions.map(({ body }) => body).join(',')}]`,
    more: [
      ...(block.info === '{}' ? [] : [`i${block.info}`]),
      ...(block.origInfo === decodeOrigInfo(info) ? [] : [`o${JSON.stringify(block.origInfo)}`]),
      ...(raw === undefined ? [] : [`r${Buffer.from(raw).toString('base64')}`]),
      ...code.map(each => `c${JSON.stringify(each)}`),
    ],
  }
}

/**
 * The text of `info` in the block's header. Nodes return several forms of it alike; this is the form that
 * gives the block's hash.
 */
function formatBlockInfo(block: Block): string {
  const head: Omit<RawHead, 'sign' | 'info'> = {
    version: BigInt(block.version),
    parentHash: decodeBase58(block.parentHash),
    txMerkleHash: decodeBase58(block.txMerkleHash),
    txReceiptMerkleHash: decodeBase58(block.txReceiptMerkleHash),
    height: block.height,
    witness: block.witness,
    time: block.time,
  }
  const info = infoForms(block).find(form => headHash({ ...head, info: Buffer.from(form) }) === block.hash)
  if (info === undefined)
    throw new Failure('bad_block', `Block ${block.height}: its head does not have the hash ${block.hash}.`)
  return info
}

/** The text of a chunk of blocks. */
export const joinBlockLines = (blocks: readonly BlockLines[]): string =>
  blocks.map(({ head, transactions, more }) => `${[head, transactions, ...more].join('\n')}\n`).join('')

/** A head has some hundred bytes, unless its `info` lists the transactions of the block (`INFO` in `bounds.ts`). */
const MAX_HEAD_BYTES = 512 * 1024
/** Optional lines of a block: `i`, `o`, `r`, and one for each system contract that it deploys. */
const MAX_OPTIONAL_LINES = 100

const LINE_FEED = 0x0a
const FIRST_OF_HEAD = 0x7b
const FIRST_OF_TRANSACTIONS = 0x5b

/**
 * The blocks in the text of a chunk, UTF-8, which has `count` blocks from height `from` on; undefined when the text is
 * malformed. Only the bytes of expected lines become strings: a chunk may consist of line feeds.
 */
export function readLines(
  text: Buffer,
  { from, count }: { readonly from: number; readonly count: number },
): readonly BlockLines[] | undefined {
  const blocks: BlockLines[] = []
  let at = 0
  /** The next line, if it begins with this byte and has at most `most` bytes; '' otherwise. */
  const line = (first: number | undefined, most = text.length): string => {
    const end = text.indexOf(LINE_FEED, at)
    if (end === -1 || end - at > most || text[at] !== first) return ''
    const read = text.toString('utf8', at, end)
    at = end + 1
    return read
  }
  while (blocks.length < count) {
    const head = line(FIRST_OF_HEAD, MAX_HEAD_BYTES)
    const transactions = head && line(FIRST_OF_TRANSACTIONS)
    const more: string[] = []
    for (let next = transactions; next !== '' && at < text.length && text[at] !== FIRST_OF_HEAD; more.push(next))
      next = more.length < MAX_OPTIONAL_LINES ? line(text[at]) : ''
    if (transactions === '' || more.at(-1) === '') return undefined
    blocks.push({ height: from + blocks.length, head, transactions, more })
  }
  return at === text.length ? blocks : undefined
}

/** The optional line with a prefix, without that prefix; undefined when the block has none. */
export const findLine = ({ more }: BlockLines, sign: 'r' | 'c' | 'i' | 'o'): string | undefined =>
  more.find(line => line.startsWith(sign))?.slice(1)

/** The code of the contracts that a block deploys. Throws Failure 'bad_block' for a line that is not JSON. */
export const parseBlockCode = ({ more }: BlockLines): readonly ContractCode[] =>
  more.flatMap(line => (line.startsWith('c') ? [parseAnswer(line.slice(1), 'contract') as ContractCode] : []))

/** Whether the answer of getBlockByNumber has fields that do not follow from the header and transactions. */
export const isShownOtherwise = (lines: BlockLines): boolean =>
  findLine(lines, 'i') !== undefined || findLine(lines, 'o') !== undefined
