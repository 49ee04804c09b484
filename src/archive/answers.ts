import { encodeBase58 } from '#chain/base58.ts'
import { decodeOrigInfo, decodeRawHead, headHash } from '#chain/head.ts'
import { parseAnswer } from '#chain/json-fields.ts'
import { Failure } from '#failure/failure.ts'
import { type BlockLines, damagedFile, parseBlockCode } from './format.ts'
import type { Archive } from './reader.ts'

/** A call of a node's RPC. */
export type ArchiveCall = { readonly path: string; readonly body?: string }

/** The node's response to such a call: its HTTP status and its JSON body as bytes. */
export type ArchiveAnswer = { readonly status: 200 | 400; readonly body: Uint8Array<ArrayBuffer> }

const encoder = new TextEncoder()

const createFoundAnswer = (text: string): ArchiveAnswer => ({ status: 200, body: encoder.encode(text) })

/**
 * An error response in a node's form, with go-iost's codes: 2 for an object that was not found, 12 for an unknown call.
 */
const refused = (code: 2 | 12, message: string): ArchiveAnswer => ({
  status: 400,
  body: encoder.encode(JSON.stringify({ code, message })),
})

/**
 * Answers those calls of a node's RPC that concern irreversible blocks, in the form of a node. Blocks of an archive
 * therefore pass the same proofs and fail the same checks as blocks of a node. Calls about state are refused as
 * unknown. 'too_large': the parts of the answer would have more than `most` characters, and it is not made. Throws
 * Failure 'damaged' with the name of the file that has changed since it was written.
 */
export const archiveAnswers =
  (archive: Archive) =>
  async ({ path, body }: ArchiveCall, most: number): Promise<ArchiveAnswer | 'too_large'> => {
    const [, call = '', ...words] = path.split('/')
    switch (call) {
      case 'getChainInfo':
        return createFoundAnswer(chainInfo(archive))
      case 'getBlockByNumber':
        return withBlock(archive, words[0], lines =>
          lines.transactions.length > most
            ? 'too_large'
            : createFoundAnswer(blockAnswer(archive, lines, words[1] === 'true')),
        )
      case 'getRawBlockByNumber':
        return withBlock(archive, words[0], lines => {
          const raw = findLine(lines, 'r')
          // Four letters of base64 stand for three bytes.
          if (raw !== undefined && (raw.length * 3) / 4 > most) return 'too_large'
          return raw === undefined
            ? refused(2, 'the archive does not have this raw block')
            : { status: 200, body: new Uint8Array(Buffer.from(raw, 'base64')) }
        })
      case 'getBlockHeaderByRange': {
        const { start, end } = JSON.parse(body ?? '{}') as { readonly start: number; readonly end: number }
        const heads = (await readRange(archive, start, end - 1)).map(({ head }) => head)
        return formatAnswerList('block_list', heads, most)
      }
      case 'getBlockTxsByContract': {
        const { from_block, to_block } = JSON.parse(body ?? '{}') as Record<'from_block' | 'to_block', number>
        const entries = (await readRange(archive, from_block, to_block)).flatMap(lines =>
          // The answer of getBlockByNumber has fields that do not follow from the header and transactions.
          findLine(lines, 'i') !== undefined || findLine(lines, 'o') !== undefined
            ? []
            : [`{"status":"IRREVERSIBLE","block_number":"${lines.height}","tx_list":${lines.transactions}}`],
        )
        return formatAnswerList('blocktx_list', entries, most)
      }
      case 'getContract':
        return await contract(archive, decodeURIComponent(words[0] ?? ''))
      default:
        return refused(12, `an archive of blocks does not answer ${call}`)
    }
  }

/** The optional line with a prefix, without that prefix; undefined when the block has none. */
const findLine = ({ more }: BlockLines, sign: 'r' | 'c' | 'i' | 'o'): string | undefined =>
  more.find(line => line.startsWith(sign))?.slice(1)

const formatAnswerList = (name: string, entries: readonly string[], most: number): ArchiveAnswer | 'too_large' =>
  entries.reduce((sum, { length }) => sum + length, 0) > most
    ? 'too_large'
    : createFoundAnswer(`{"${name}":[${entries.join(',')}]}`)

function chainInfo({ manifest }: Archive): string {
  const { chain_id, net_name, height, hash, time } = manifest
  return JSON.stringify({
    net_name,
    protocol_version: '1.0',
    chain_id,
    head_block: String(height),
    head_block_hash: hash,
    lib_block: String(height),
    lib_block_hash: hash,
    witness_list: [],
    lib_witness_list: [],
    pending_witness_list: [],
    head_block_time: time,
    lib_block_time: time,
  })
}

/** The blocks of a range that the archive contains. */
async function readRange(archive: Archive, from: number, to: number): Promise<readonly BlockLines[]> {
  const first = archive.manifest.files[0]?.from ?? 0
  const [low, high] = [Math.max(from, first), Math.min(to, archive.manifest.height)]
  return low > high ? [] : archive.blocks(low, high)
}

async function withBlock(
  archive: Archive,
  word: string | undefined,
  answer: (lines: BlockLines) => ArchiveAnswer | 'too_large',
): Promise<ArchiveAnswer | 'too_large'> {
  const height = /^[0-9]{1,15}$/.test(word ?? '') ? Number(word) : -1
  const [lines] = height < 0 ? [] : await readRange(archive, height, height)
  return lines === undefined ? refused(2, 'block not found') : answer(lines)
}

/** The result of `read`, which parses lines of a block. Throws Failure 'damaged' when they are wrong. */
function readArchived<T>(archive: Archive, { height }: BlockLines, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    throw damagedFile(archive.fileOf(height) ?? archive.folder.name, `block ${height} cannot be read: ${error.message}`)
  }
}

function blockAnswer(archive: Archive, lines: BlockLines, complete: boolean): string {
  const { head, count } = readArchived(archive, lines, () => ({
    head: decodeRawHead(parseAnswer(lines.head, 'head'), { key: 'archive' }),
    count: (parseAnswer(lines.transactions, 'transactions') as readonly unknown[]).length,
  }))
  const info = findLine(lines, 'i')
  const origInfo = findLine(lines, 'o') ?? JSON.stringify(decodeOrigInfo(head.info))
  const block = JSON.stringify({
    hash: headHash(head),
    version: String(head.version),
    parent_hash: encodeBase58(head.parentHash),
    tx_merkle_hash: encodeBase58(head.txMerkleHash),
    tx_receipt_merkle_hash: encodeBase58(head.txReceiptMerkleHash),
    number: String(lines.height),
    witness: head.witness,
    time: String(head.time),
    gas_usage: 0,
    tx_count: String(count),
  }).slice(0, -1)
  const rest = `"info":${info ?? 'null'},"orig_info":${origInfo},"transactions":${complete ? lines.transactions : '[]'}`
  return `{"status":"IRREVERSIBLE","block":${block},${rest}}}`
}

/** The code of a contract from the last block that deployed it, in a node's form. */
async function contract(archive: Archive, id: string): Promise<ArchiveAnswer> {
  const file = archive.manifest.files.findLast(({ contracts }) => contracts.some(([known]) => known === id))
  const height = file?.contracts.findLast(([known]) => known === id)?.[1]
  const [lines] = height === undefined ? [] : await archive.blocks(height, height)
  const code = lines && readArchived(archive, lines, () => parseBlockCode(lines)).findLast(each => each.id === id)
  return code === undefined ? refused(2, 'contract not found') : createFoundAnswer(JSON.stringify(code))
}
