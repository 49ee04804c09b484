import { connect, type Socket } from 'node:net'

/** Results of the requests of a client. */
type Tally = {
  answered: number
  /**
   * Requests that were repeated because their connection closed before the first byte of an answer (RFC 9110,
   * 9.2.2).
   */
  retried: number
  /** Connections that the server closed with `Connection: close`. */
  released: number
  /** Status and body of each unexpected answer, and an entry for each request without an answer. */
  readonly wrong: string[]
}

type Answer = { readonly status: number; readonly body: string; readonly closes: boolean }
/** The connection closed before the first byte of an answer, or within it. */
type Broken = 'before' | 'within'

/**
 * A client that keeps its connection as long as the server does, and sends one request after the other. It repeats a
 * GET once when its connection closes before the answer begins, as HTTP allows. No other request is repeated.
 */
export function keepAliveClient(
  port: number,
  { path, headers, expected }: { readonly path: string; readonly headers: string; readonly expected: string },
) {
  const tally: Tally = { answered: 0, retried: 0, released: 0, wrong: [] }
  let socket: Socket | undefined
  const drop = (): void => {
    socket?.destroy()
    socket = undefined
  }
  const ask = async (): Promise<Answer | Broken> => {
    socket ??= await connected(port)
    if (socket === undefined) return 'before'
    const answer = await exchanged(socket, `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n\r\n`)
    if (typeof answer === 'string' || answer.closes) drop()
    return answer
  }
  return {
    tally,
    once: async (): Promise<void> => {
      let answer = await ask()
      if (answer === 'before') {
        tally.retried += 1
        answer = await ask()
      }
      if (typeof answer === 'string') tally.wrong.push(`no answer: ${answer}`)
      else {
        tally.answered += 1
        if (answer.closes) tally.released += 1
        if (answer.status !== 200 || answer.body !== expected) tally.wrong.push(`${answer.status} ${answer.body}`)
      }
    },
    close: drop,
  }
}

const connected = (port: number): Promise<Socket | undefined> =>
  new Promise(resolve => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(socket))
    socket.once('error', () => resolve(undefined))
  })

const exchanged = (socket: Socket, request: string): Promise<Answer | Broken> =>
  new Promise(resolve => {
    let text = ''
    const end = (result: Answer | Broken): void => {
      socket.removeAllListeners()
      // A socket without an error listener throws its errors.
      socket.on('error', () => undefined)
      resolve(result)
    }
    socket.on('data', bytes => {
      text += bytes.toString('latin1')
      const answer = answerIn(text)
      if (answer !== undefined) end(answer)
    })
    for (const name of ['close', 'error', 'end'] as const) socket.on(name, () => end(text === '' ? 'before' : 'within'))
    socket.write(request)
  })

/** A complete answer with a Content-Length. undefined: more bytes must follow. */
function answerIn(text: string): Answer | undefined {
  const from = text.indexOf('\r\n\r\n') + 4
  if (from < 4) return undefined
  const head = text.slice(0, from)
  const length = Number(/^content-length: (\d+)\r$/im.exec(head)?.[1])
  if (text.length < from + length) return undefined
  return {
    status: Number(head.slice('HTTP/1.1 '.length, 'HTTP/1.1 '.length + 3)),
    body: text.slice(from, from + length),
    closes: /^connection: close\r$/im.test(head),
  }
}
