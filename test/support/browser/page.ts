import { seen } from '../wait.ts'
import type { Devtools } from './devtools.ts'

export type OpenOptions = {
  /** Width of the window in CSS pixels. Default: 1400. */
  readonly width?: number
  readonly height?: number
  readonly scheme?: 'light' | 'dark'
}

/** A browser page, with its console messages and requests since it was opened. */
export type Page = {
  /** Opens an address and waits until it has loaded. */
  go(url: string): Promise<void>
  /** Evaluates an expression in the page and resolves with its JSON value. A promise is awaited. */
  run<T>(expression: string): Promise<T>
  /** Waits until an expression is true in the page, which may navigate meanwhile. Throws after two minutes. */
  until(expression: string): Promise<void>
  /** Presses and releases keys: `Tab`, `Enter`, `Escape`, or a character. */
  press(...keys: readonly string[]): Promise<void>
  /** Types a text into the focused element. */
  type(text: string): Promise<void>
  resize(width: number, height?: number): Promise<void>
  /** Emulates a light or dark colour scheme from now on, for screen or print. */
  prefer(scheme: 'light' | 'dark', media?: 'screen' | 'print'): Promise<void>
  /** Enables or disables JavaScript in pages that are opened from now on. */
  letRun(isAllowed: boolean): Promise<void>
  /** Console messages, uncaught errors, content security policy violations, and dialogs, which are closed. */
  readonly said: readonly string[]
  /** The requested URLs, in order. */
  readonly asked: readonly string[]
  close(): Promise<void>
}

/** Protocol codes of keys that are not characters. */
const KEYS: ReadonlyMap<string, { readonly code: number; readonly text?: string }> = new Map([
  ['Tab', { code: 9 }],
  ['Enter', { code: 13, text: '\r' }],
  ['Escape', { code: 27 }],
  ['ArrowDown', { code: 40 }],
  ['ArrowUp', { code: 38 }],
  [' ', { code: 32, text: ' ' }],
])

/** Opens a page on an attached target. */
export async function openPage(
  devtools: Devtools,
  { width = 1400, height = 900, scheme = 'light', close }: OpenOptions & { readonly close: () => Promise<void> },
): Promise<Page> {
  const said: string[] = []
  const asked: string[] = []
  listen(devtools, said, asked)
  for (const domain of ['Page', 'Runtime', 'Network', 'Log']) await devtools.send(`${domain}.enable`)
  const resize: Page['resize'] = async (to, high = height) => {
    await devtools.send('Emulation.setDeviceMetricsOverride', {
      width: to,
      height: high,
      deviceScaleFactor: 1,
      mobile: to < 500,
    })
  }
  await resize(width)
  const prefer: Page['prefer'] = async (to, media = 'screen') => {
    await devtools.send('Emulation.setEmulatedMedia', {
      media,
      features: [{ name: 'prefers-color-scheme', value: to }],
    })
  }
  await prefer(scheme)
  const run = <T>(expression: string): Promise<T> => evaluate(devtools, expression)
  return {
    go: url => navigate(devtools, url),
    run,
    until: async expression => {
      // An expression that throws is evaluated again: the page may be navigating.
      const look = async () => ({ expression, gives: await run<unknown>(expression).catch(String) })
      await seen(look, ({ gives }) => gives === true, 20)
    },
    press: async (...keys) => {
      for (const key of keys) await pressKey(devtools, key)
    },
    type: async text => {
      await devtools.send('Input.insertText', { text })
    },
    resize,
    prefer,
    letRun: async isAllowed => {
      await devtools.send('Emulation.setScriptExecutionDisabled', { value: !isAllowed })
    },
    said,
    asked,
    close,
  }
}

async function evaluate<T>(devtools: Devtools, expression: string): Promise<T> {
  const { result, exceptionDetails } = await devtools.send('Runtime.evaluate', {
    expression,
    returnByValue: true,
    awaitPromise: true,
  })
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
