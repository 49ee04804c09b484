import { decodeBase58 } from '#chain/base58.ts'
import type { Block, ContractCode } from '#chain/block.ts'
import { headHash, infoForms, origInfoOf, type RawHead } from '#chain/head.ts'
import { Failure } from '#failure/failure.ts'

/**
 * A block in an archive: lines of text in a fixed order and form, so that the same block always makes the same bytes.
 * The first line is the head as getBlockHeaderByRange gives it, the second one the transactions as getBlockTxsByContract
 * gives them. Lines that few blocks have follow, each after a sign: `r` the answer of getRawBlockByNumber in base64, since
 * it may be no UTF-8, `c` one of getContract, `i` and `o` the `info` and `orig_info` of getBlockByNumber where they do not
 * follow from the head.
 */
export type BlockLines = {
  readonly height: number
  readonly head: string
  readonly transactions: string
  readonly more: readonly string[]
}

/** What is archived of a block. */
export type ArchivedBlock = {
  readonly block: Block
  /** Signature of its head as nodes give it, `{algorithm, sig, pubKey}`; undefined: none. */
  readonly sign: unknown
  /** The node's raw block, where proving the block needs it. */
  readonly raw?: Uint8Array | undefined
  readonly code: readonly ContractCode[]
}

const base64 = (hash: string): string => Buffer.from(decodeBase58(hash)).toString('base64')

/** What stands for a signature that is not kept. */
export const NO_SIGN = { algorithm: 0, sig: '', pubKey: '' }

/** The lines of a block. Throws Failure 'bad_block' when its head does not have its hash. */
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

/** The text of `info` in a block's head: of the forms that nodes show alike, the one with which the head has its hash. */
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

/** The blocks of a chunk's text, the first of which has the height `from`; undefined: it is not such a text. */
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

/** A line behind the first two, without its sign; undefined: the block has none of this kind. */
export const lineOf = ({ more }: BlockLines, sign: 'r' | 'c' | 'i' | 'o'): string | undefined =>
  more.find(line => line.startsWith(sign))?.slice(1)

/** The code of the contracts that a block places. */
export const codeIn = ({ more }: BlockLines): readonly ContractCode[] =>
  more.flatMap(line => (line.startsWith('c') ? [JSON.parse(line.slice(1)) as ContractCode] : []))

/** Whether getBlockByNumber shows more of the block than its head and transactions say. */
export const isShownOtherwise = (lines: BlockLines): boolean =>
  lineOf(lines, 'i') !== undefined || lineOf(lines, 'o') !== undefined
