import type { ChainInfo, Node } from '#node/port.ts'

/** A node's answer to GET of a path. Several answers are given in order, and the last one is repeated. */
type Said = { readonly status: number; readonly text: string }
export const found = (text: string): Said => ({ status: 200, text })
export const notFound = (what: 'tx' | 'block'): Said => ({
  status: 400,
  text: `{"code":2,"message":"${what} not found"}`,
})

/** The info of a node whose last block, at this height, is irreversible. */
export const chainInfoAt = (height: number): ChainInfo => ({
  ...{ chainId: 1020, netName: 'debugnet' },
  ...{ headBlock: height, headHash: '', headTime: 0n },
  ...{ libBlock: height, libHash: '', libTime: 0n },
})

/** A node that gives the answers of a test and records the requested paths. */
export function spokenNode(
  said: Readonly<Record<string, readonly Said[]>>,
  info: Partial<ChainInfo> = {},
): Node & { readonly asked: string[] } {
  const asked: string[] = []
  const never = () => {
    throw new Error('A test asked its node for what it does not say.')
  }
  const heard = { ...chainInfoAt(4851), ...info }
  return {
    name: 'spoken',
    asked,
    chainInfo: async () => heard,
    lastInfo: () => heard,
    reportAgeMs: () => 0,
    whyUnfit: () => undefined,
    watch: async () => undefined,
    get: async path => {
      const answers = said[path] ?? []
      const times = asked.filter(earlier => earlier === path).length
      asked.push(path)
      const answer = answers[Math.min(times, answers.length - 1)]
      if (answer === undefined) throw new Error(`The node was asked for ${path}.`)
      return {
        status: answer.status,
        contentType: 'application/json',
        body: new TextEncoder().encode(answer.text),
        reaches: height => height <= heard.headBlock,
        refreshHeight: async () => undefined,
        isFirst: true,
        isUsable: () => true,
        release: () => undefined,
      }
    },
    blocks: never,
    blockHash: never,
    hashes: never,
    heads: never,
    contractCode: never,
    storage: never,
    close: () => undefined,
  }
}
