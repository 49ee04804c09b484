import { type Asked, type Fate, openProxy, pass } from './faulty-proxy.ts'

/** A transaction of the node's JSON, to be altered. */
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

export type Forged = {
  readonly height: number
  /** Position in its block; −1: the last one. */
  readonly position: number
  readonly alter: (tx: ToldTx) => void
  /** What becomes of other calls. */
  readonly others?: (asked: Asked) => Fate
}

/** A way to the node at `url` on which one transaction is altered wherever the node's JSON shows it; its raw form is not. */
export const openForger = (url: string, { height, position, alter, others = () => pass }: Forged) => {
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

/** The call of raw blocks is one that a node does not know. */
export const withoutRaw = ({ path }: Pick<Asked, 'path'>): Fate =>
  path.startsWith('/getRawBlockByNumber/')
    ? { type: 'answer', with: { status: 400, body: '{"code":12,"message":"Not Implemented"}' } }
    : pass
