import { seen } from '../wait.ts'

type Json = Readonly<Record<string, unknown>>
type Heard = (params: Json) => void

/** A connection to the DevTools protocol of a browser, or to one target of it when `session` is given. */
type Devtools = {
  /** Sends a command and resolves with its result. Throws the browser's error when the command fails. */
  send(method: string, params?: Json): Promise<Json>
  /** Calls `heard` for every such event of this session. */
  on(event: string, heard: Heard): void
  /** The same connection, for the target of an attached session. */
  session(id: string): Devtools
}

export async function connectDevtools(url: string): Promise<Devtools> {
  const socket = new WebSocket(url)
  const waiting = new Map<number, { readonly method: string; readonly done: PromiseWithResolvers<Json> }>()
  const listeners = new Map<string, Heard[]>()
  let last = 0
  socket.onmessage = ({ data }) => {
    const { id, method, sessionId = '', params = {}, result = {}, error } = JSON.parse(String(data))
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

export type OpenOptions = {
  /** Width of the window in CSS pixels. Default: 1400. */
  readonly width?: number
  readonly scheme?: 'light' | 'dark'
}

const KEYS: ReadonlyMap<string, { readonly code: number; readonly text?: string }> = new Map([
  ['Tab', { code: 9 }],
  ['Enter', { code: 13, text: '\r' }],
  ['Escape', { code: 27 }],
  ['ArrowDown', { code: 40 }],
  ['ArrowUp', { code: 38 }],
  [' ', { code: 32, text: ' ' }],
])

export type Page = Awaited<ReturnType<typeof openPage>>

/** Opens a page on an attached target, with its console messages and requests since then. */
export async function openPage(
  devtools: Devtools,
  { width = 1400, scheme = 'light', close }: OpenOptions & { readonly close: () => Promise<void> },
) {
  const said: string[] = []
  const asked: string[] = []
  listen(devtools, said, asked)
  for (const domain of ['Page', 'Runtime', 'Network', 'Log']) await devtools.send(`${domain}.enable`)
  const resize = async (to: number): Promise<void> => {
    const size = { width: to, height: 900, deviceScaleFactor: 1, mobile: to < 500 }
    await devtools.send('Emulation.setDeviceMetricsOverride', size)
  }
  await resize(width)
  /** Emulates a light or dark colour scheme from now on, for screen or print. */
  const prefer = async (to: 'light' | 'dark', media: 'screen' | 'print' = 'screen'): Promise<void> => {
    const features = [{ name: 'prefers-color-scheme', value: to }]
    await devtools.send('Emulation.setEmulatedMedia', { media, features })
  }
  await prefer(scheme)
  /** Evaluates an expression in the page and resolves with its JSON value. A promise is awaited. */
  const run = <T>(expression: string): Promise<T> => evaluate(devtools, expression)
  return {
    go: (url: string) => navigate(devtools, url),
    run,
    /** Waits until an expression is true in the page, which may navigate meanwhile. Throws after two minutes. */
    until: async (expression: string): Promise<void> => {
      // An expression that throws is evaluated again: the page may be navigating.
      const look = async () => ({ expression, gives: await run<unknown>(expression).catch(String) })
      await seen(look, ({ gives }) => gives === true, 20)
    },
    /** Presses and releases keys: `Tab`, `Enter`, `Escape`, or a character. */
    press: async (...keys: readonly string[]): Promise<void> => {
      for (const key of keys) await pressKey(devtools, key)
    },
    type: async (text: string): Promise<void> => void (await devtools.send('Input.insertText', { text })),
    resize,
    prefer,
    /** Enables or disables JavaScript in pages that are opened from now on. */
    letRun: async (isAllowed: boolean): Promise<void> => {
      await devtools.send('Emulation.setScriptExecutionDisabled', { value: !isAllowed })
    },
    /** Console messages, uncaught errors, content security policy violations, and dialogs, which are closed. */
    said: said as readonly string[],
    asked: asked as readonly string[],
    close,
  }
}

async function evaluate<T>(devtools: Devtools, expression: string): Promise<T> {
  const how = { expression, returnByValue: true, awaitPromise: true }
  const { result, exceptionDetails } = await devtools.send('Runtime.evaluate', how)
  if (exceptionDetails !== undefined) throw new Error(`${expression}\n${JSON.stringify(exceptionDetails)}`)
  return (result as { readonly value: T }).value
}

async function navigate(devtools: Devtools, url: string): Promise<void> {
  const loaded = Promise.withResolvers<void>()
  devtools.on('Page.loadEventFired', () => loaded.resolve())
  const { errorText, loaderId } = await devtools.send('Page.navigate', { url })
  if (errorText !== undefined) throw new Error(`${url}: ${errorText}`)
  // Without a loader id the URL differs in its fragment only, and nothing is loaded.
  if (loaderId !== undefined) await loaded.promise
}

async function pressKey(devtools: Devtools, key: string): Promise<void> {
  const known = KEYS.get(key)
  const text = known === undefined ? key : known.text
  const common = { key, windowsVirtualKeyCode: known?.code ?? key.toUpperCase().charCodeAt(0) }
  await devtools.send('Input.dispatchKeyEvent', {
    ...common,
    type: text === undefined ? 'rawKeyDown' : 'keyDown',
    ...(text === undefined ? {} : { text }),
  })
  await devtools.send('Input.dispatchKeyEvent', { ...common, type: 'keyUp' })
}

function listen(devtools: Devtools, said: string[], asked: string[]): void {
  devtools.on('Runtime.consoleAPICalled', ({ type, args }) => {
    const values = (args as readonly { readonly value?: unknown; readonly description?: string }[]) ?? []
    said.push(`console.${type}: ${values.map(({ value, description }) => value ?? description).join(' ')}`)
  })
  devtools.on('Page.javascriptDialogOpening', ({ type, message }) => {
    said.push(`${type}: ${message}`)
    void devtools.send('Page.handleJavaScriptDialog', { accept: false })
  })
  devtools.on('Runtime.exceptionThrown', ({ exceptionDetails }) => {
    said.push(`uncaught: ${JSON.stringify(exceptionDetails)}`)
  })
  devtools.on('Log.entryAdded', ({ entry }) => {
    const { level, text, url } = entry as Readonly<Record<string, unknown>>
    said.push(`${level}: ${text} ${url ?? ''}`)
  })
  devtools.on('Network.requestWillBeSent', ({ request }) => {
    asked.push(String((request as { readonly url: string }).url))
  })
}
