import { Failure } from '#failure/failure.ts'
import { type Answer, found, refused } from '#replay/answer.ts'
import { type GeneratedNode, generatedNode } from './answers.ts'
import { type Chain, createChain } from './chain.ts'
import { type Settings, settingsOf } from './settings.ts'

export type GeneratedOptions = Partial<Settings> & {
  /** Default 127.0.0.1. */
  readonly host?: string
  /** 0: any free one. */
  readonly port?: number
}

export type Generated = {
  /** Without a slash at its end. */
  readonly url: string
  readonly chain: Chain
  /** The chain ends here from now on: 0 … its settings' last height. Throws Failure 'usage'. */
  setHeight(height: number): void
  stop(): Promise<void>
}

const MICROSECONDS = 1_000_000

/** What this process has cost so far, seconds of CPU. */
export const cpuText = (): string => {
  const { user, system } = process.cpuUsage()
  return JSON.stringify({ user_seconds: user / MICROSECONDS, system_seconds: system / MICROSECONDS })
}

const answerGet = (node: GeneratedNode, path: string): Answer => {
  const [, name = '', first = '', second = ''] = path.split('/').map(decodeURIComponent)
  switch (name) {
    case 'getNodeInfo':
      return node.nodeInfo()
    case 'getChainInfo':
      return node.chainInfo()
    case 'getBlockByNumber':
      return node.blockByNumber(first, second)
    case 'getRawBlockByNumber':
      return node.rawBlockByNumber(first, second)
    case 'getBlockByHash':
      return node.blockByHash(first, second)
    case 'getTxByHash':
      return node.transactionByHash(first)
    case 'getContract':
      return node.contract(first)
    case 'cpu':
      return found(cpuText())
    default:
      return refused(12, 'Not Implemented')
  }
}

const answerPost = (node: GeneratedNode, path: string, body: string): Answer => {
  if (path === '/getBlockHeaderByRange') return node.headersByRange(body)
  if (path === '/getBlockTxsByContract') return node.transactionsByContract(body)
  if (path === '/listContractStorage') return node.listStorage(body)
  return refused(12, 'Not Implemented')
}

/** Serves a generated chain over HTTP with a node's RPC. Every block up to the height is irreversible. */
export const serveGenerated = ({ host = '127.0.0.1', port = 0, ...given }: GeneratedOptions): Generated => {
  const chain = createChain(settingsOf(given))
  let height = chain.settings.blocks
  const node = generatedNode(chain, () => height)
  const server = Bun.serve({
    hostname: host,
    port,
    idleTimeout: 255,
    fetch: async request => {
      const path = new URL(request.url).pathname
      const answer =
        request.method === 'POST' ? answerPost(node, path, await request.text()) : answerGet(node, path)
      return new Response(answer.text, {
        status: answer.status,
        headers: { 'content-type': answer.contentType },
      })
    },
  })
  return {
    url: `http://${host}:${server.port}`,
    chain,
    setHeight: next => {
      if (!Number.isInteger(next) || next < 0 || next > chain.settings.blocks)
        throw new Failure('usage', `Height ${next} is not one of 0 … ${chain.settings.blocks}.`)
      height = next
    },
    stop: () => server.stop(true),
  }
}
