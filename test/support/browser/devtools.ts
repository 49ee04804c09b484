/** Results and events of the DevTools protocol, whose fields are read by name. */
type Json = Readonly<Record<string, unknown>>
type Heard = (params: Json) => void

/** A connection to the DevTools protocol of a browser, or to one target of it when `session` is given. */
export type Devtools = {
  /** Sends a command and resolves with its result. Throws the browser's error when the command fails. */
  send(method: string, params?: Json): Promise<Json>
  /** Calls `heard` for every such event of this session. */
  on(event: string, heard: Heard): void
  /** The same connection, for the target of an attached session. */
  session(id: string): Devtools
}

type Message = {
  readonly id?: number
  readonly method?: string
  readonly sessionId?: string
  readonly params?: Json
  readonly result?: Json
  readonly error?: { readonly message: string }
}

/** Connects to the URL that the browser prints when it starts. */
export async function connectDevtools(url: string): Promise<Devtools> {
  const socket = new WebSocket(url)
  const waiting = new Map<number, { readonly method: string; readonly done: PromiseWithResolvers<Json> }>()
  const listeners = new Map<string, Heard[]>()
  let last = 0
  socket.onmessage = ({ data }) => {
    const { id, method, sessionId = '', params = {}, result = {}, error } = JSON.parse(String(data)) as Message
    if (id === undefined) {
      for (const heard of listeners.get(`${sessionId} ${method}`) ?? []) heard(params)
      return
    }
    const sent = waiting.get(id)
    waiting.delete(id)
    if (error === undefined) sent?.done.resolve(result)
    else sent?.done.reject(new Error(`${sent.method}: ${error.message}`))
  }
  socket.onclose = () => {
    for (const { method, done } of waiting.values()) done.reject(new Error(`${method}: the browser has gone.`))
    waiting.clear()
  }
  const of = (session: string): Devtools => ({
    send: (method, params = {}) => {
      const id = ++last
      const done = Promise.withResolvers<Json>()
      waiting.set(id, { method, done })
      socket.send(JSON.stringify({ id, method, params, ...(session === '' ? {} : { sessionId: session }) }))
      return done.promise
    },
    on: (event, heard) => {
      const key = `${session} ${event}`
      listeners.set(key, [...(listeners.get(key) ?? []), heard])
    },
    session: of,
  })
  await new Promise<void>((resolve, reject) => {
    socket.onopen = () => resolve()
    socket.onerror = () => reject(new Error(`No DevTools at ${url}.`))
  })
  return of('')
}
