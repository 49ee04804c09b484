import { decodeBase58 } from '#chain/base58.ts'
import type { Block, ContractCode } from '#chain/block.ts'
import { headHash, infoForms, origInfoOf, type RawHead } from '#chain/head.ts'
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
export const linesOf = ({ block, sign = NO_SIGN, raw, code }: ArchivedBlock): BlockLines => {
  const { height, version, witness, time } = block
  const info = Buffer.from(infoOf(block))
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
      ...(block.origInfo === origInfoOf(info) ? [] : [`o${JSON.stringify(block.origInfo)}`]),
      ...(raw === undefined ? [] : [`r${Buffer.from(raw).toString('base64')}`]),
      ...code.map(each => `c${JSON.stringify(each)}`),
    ],
  }
}

/**
 * The text of `info` in the block's header. Nodes return several forms of it alike; this is the form that
 * gives the block's hash.
 */
const infoOf = (block: Block): string => {
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
export const textOf = (blocks: readonly BlockLines[]): string =>
  blocks.map(({ head, transactions, more }) => `${[head, transactions, ...more].join('\n')}\n`).join('')

/** The blocks in the text of a chunk whose first block is at height `from`; undefined when the text is malformed. */
export const readLines = (text: string, from: number): readonly BlockLines[] | undefined => {
  const lines = text.split('\n')
  if (lines.pop() !== '') return undefined
  const blocks: BlockLines[] = []
  for (let at = 0; at < lines.length; ) {
    const [head, transactions] = [lines[at], lines[at + 1]]
    if (head?.startsWith('{') !== true || transactions?.startsWith('[') !== true) return undefined
    at += 2
    const more: string[] = []
    while (at < lines.length && lines[at]?.startsWith('{') === false) more.push(lines[at++] ?? '')
    blocks.push({ height: from + blocks.length, head, transactions, more })
  }
  return blocks
}

/** The optional line with a prefix, without that prefix; undefined when the block has none. */
export const lineOf = ({ more }: BlockLines, sign: 'r' | 'c' | 'i' | 'o'): string | undefined =>
  more.find(line => line.startsWith(sign))?.slice(1)

/** The code of the contracts that a block deploys. */
export const codeIn = ({ more }: BlockLines): readonly ContractCode[] =>
  more.flatMap(line => (line.startsWith('c') ? [JSON.parse(line.slice(1)) as ContractCode] : []))

/** Whether the answer of getBlockByNumber has fields that do not follow from the header and transactions. */
export const isShownOtherwise = (lines: BlockLines): boolean =>
  lineOf(lines, 'i') !== undefined || lineOf(lines, 'o') !== undefined
