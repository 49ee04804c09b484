import { decodeBase58 } from '#chain/base58.ts'
import { decodeRawHeads, headHash } from '#chain/head.ts'
import type { Generated } from '../generator/serve.ts'
import { signText } from '../generator/signing.ts'
import { signerOf } from '../generator/world.ts'
import { NO_SIGN } from '../replay/replay-node.ts'
import { isAskedFor } from '../support/nodes/faulty-node.ts'
import type { Asked, Fate } from '../support/nodes/faulty-proxy.ts'

type Lie = { readonly name: string; readonly change: (text: string, height: number) => string }

type Blocks = {
  readonly block?: { readonly transactions: unknown[] }
  readonly blocktx_list?: readonly { readonly block_number: string; readonly tx_list: unknown[] }[]
}

function withTransactions(text: string, height: number, change: (list: unknown[]) => void): string {
  const answer = JSON.parse(text) as Blocks
  const list =
    answer.block?.transactions ??
    answer.blocktx_list?.find(({ block_number }) => block_number === String(height))?.tx_list
  if (list === undefined || list.length === 0) return text
  change(list)
  return JSON.stringify(answer)
}

/** Lies that every level of proof must detect: the block no longer fits its own hashes. */
export const LIES = Object.entries<Lie['change']>({
  'a transaction is dropped': (text, height) => withTransactions(text, height, list => list.pop()),
  'two transactions change places': (text, height) => withTransactions(text, height, list => list.reverse()),
  'an amount of a receipt': text =>
    text.replace(
      /(\\"iost\\", ?\\"[^"\\]*\\", ?\\"[^"\\]*\\", ?\\")(\d)/,
      (_, before, digit) => `${before}${(Number(digit) + 1) % 10}`,
    ),
  'gas of a transaction': text =>
    text.replace(/("tx_receipt":\{[^{}]*?"gas_usage":)(\d+)/, (_, before, gas) => `${before}${Number(gas) + 1}`),
  'the status of a transaction': text => text.replace('"SUCCESS"', '"RUNTIME_ERROR"'),
  'the time of the block': (text, height) =>
    atHead(text, height, part =>
      part.replace(/"time":"(\d+)(\d)"/, (_, most, last) => `"time":"${most}${(Number(last) + 1) % 10}"`),
    ),
  'the version of the block': (text, height) =>
    atHead(text, height, part => part.replace('"version":"1"', '"version":"0"')),
  'the number of the block': (text, height) => text.replaceAll(`number":"${height}"`, `number":"${height + 1}"`),
  'the parent of the block': (text, height) =>
    atHead(text, height, part =>
      part.replace(/"parent(_h|H)ash":"(.)(.)/, (_, letter, a, b) => `"parent${letter}ash":"${b}${a}`),
    ),
  'no signatures': text => text.replaceAll(/"sign":\{[^{}]*\}/g, `"sign":${NO_SIGN}`),
  'signatures of something else': text => text.replaceAll(/"sig":"(.)(.)/g, (_, a, b) => `"sig":"${b}${a}`),
  'the raw form of the block': text =>
    text.replaceAll(/"gasUsage":"(\d+)"/g, (_, gas) => `"gasUsage":"${Number(gas) + 1}"`),
  'raw transactions': text =>
    text.replaceAll(/"publisher":"[^"]*", "publishSigns"/g, '"publisher":"founder", "publishSigns"'),
  'half of an answer': text => text.slice(0, text.length / 2),
  'an answer that is no JSON': () => '<html>gateway</html>',
  'an empty answer': () => '{}',
  'an answer nested without end': () => '['.repeat(200_000),
}).map(([name, change]): Lie => ({ name, change }))

/** Changes the header of one block: the whole answer of a single block call, otherwise the entry of its number. */
function atHead(text: string, height: number, change: (part: string) => string): string {
  const at = text.indexOf(`"number":"${height}"`)
  if (at === -1) return text
  const from = Math.max(text.lastIndexOf('{"head"', at), text.lastIndexOf('"block":{', at))
  const to = text.indexOf('}', at)
  return from === -1 || to === -1 ? text : text.slice(0, from) + change(text.slice(from, to)) + text.slice(to)
}

const changing = (change: (text: string) => string): Fate => ({
  type: 'change',
  to: ({ status, body }) => ({ status, body: change(body) }),
})

/** Lies in every answer that contains the block. `told` is called at each changed answer. */
export const lying =
  ({ change }: Lie, height: number, told: () => void) =>
  (asked: Asked): Fate =>
    isAskedFor(height, asked)
      ? changing(text => {
          const changed = change(text, height)
          if (changed !== text) told()
          return changed
        })
      : { type: 'pass' }

/** Reports a false last irreversible block: `requireLib` of the true one. */
export const lyingAboutLib =
  (libOf: (lib: number) => string, told: () => void) =>
  ({ path }: Asked): Fate =>
    path === '/getChainInfo'
      ? changing(text => {
          told()
          return text.replace(
            /"(lib|head)_block":"(\d+)"/g,
            (_, which, lib) => `"${which}_block":"${libOf(Number(lib))}"`,
          )
        })
      : { type: 'pass' }

/**
 * An orphan at the head: the block with another time, hence another hash, signed by its witness. All other
 * fields are the true block's, so that every figure stays true. Every level must accept it, because real
 * witnesses produce such blocks.
 */
export async function orphanAt({ url, chain }: Generated, height: number): Promise<(asked: Asked) => Fate> {
  const body = JSON.stringify({ start: String(height), end: String(height + 1) })
  const answer = await fetch(`${url}/getBlockHeaderByRange`, { method: 'POST', body })
  const [head] = decodeRawHeads(await answer.text())
  const signer = signerOf(chain.world, height)
  if (head === undefined || signer === undefined) throw new Error(`The node has no block ${height}.`)
  const [hash, other] = [headHash(head), headHash({ ...head, time: head.time + 1n })]
  const [signed, resigned] = [hash, other].map(each => signText(decodeBase58(each), signer)) as [string, string]
  const change = (text: string): string =>
    atHead(text.replaceAll(hash, other).replaceAll(signed, resigned), height, part =>
      part.replace(`"time":"${head.time}"`, `"time":"${head.time + 1n}"`),
    )
  return asked => (isAskedFor(height, asked) || asked.path === '/getChainInfo' ? changing(change) : { type: 'pass' })
}
