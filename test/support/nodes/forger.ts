import { type Asked, type Fate, openProxy, pass } from './faulty-proxy.ts'

/** A transaction in the node's JSON, to be altered. */
export type ToldTx = {
  publisher: string
  time: string
  delay: string
  referred_tx: string
  actions: { contract: string; action_name: string; data: string }[]
}
type Answer = {
  block?: { number: string; transactions: ToldTx[] }
  blocktx_list?: { block_number: string; tx_list: ToldTx[] }[]
}

type Forged = {
  readonly height: number
  /** Position in its block. −1: the last one. */
  readonly position: number
  readonly alter: (tx: ToldTx) => void
  /** The fate of other calls. */
  readonly others?: (asked: Asked) => Fate
}

/**
 * A proxy to the node at `url` that alters one transaction wherever the node's JSON contains it, but not in
 * its raw form.
 */
export function openForger(url: string, { height, position, alter, others = () => pass }: Forged) {
  const change = (text: string): string => {
    const answer = JSON.parse(text) as Answer
    const { block, blocktx_list } = answer
    const list =
      block?.number === String(height)
        ? block.transactions
        : blocktx_list?.find(({ block_number }) => block_number === String(height))?.tx_list
    const tx = list?.at(position)
    if (tx === undefined) return text
    alter(tx)
    return JSON.stringify(answer)
  }
  return openProxy(url, asked =>
    /^\/get(?:BlockByNumber|BlockTxsByContract)/.test(asked.path)
      ? { type: 'change', to: ({ status, body }) => ({ status, body: change(body) }) }
      : others(asked),
  )
}

/** The node does not know the call for raw blocks. */
export const withoutRaw = ({ path }: Pick<Asked, 'path'>): Fate =>
  path.startsWith('/getRawBlockByNumber/')
    ? { type: 'answer', with: { status: 400, body: '{"code":12,"message":"Not Implemented"}' } }
    : pass
