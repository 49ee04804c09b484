import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../root.ts'
import { connectDevtools } from './devtools.ts'
import { type OpenOptions, openPage, type Page } from './page.ts'

/** A headless Chromium process. `close` ends it and its pages. */
export type Browser = {
  /** A page with a new profile: no cookies, storage or cache of another page. */
  open(options?: OpenOptions): Promise<Page>
  /** Further pages with one profile of their own, as the windows of one browser. */
  openWindows(count: number): Promise<readonly Page[]>
  close(): Promise<void>
}

/** Flags that stop requests to the vendor's servers and rendering that depends on the machine's graphics. */
const FLAGS = [
  '--headless=new',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-extensions',
  '--disable-gpu',
  '--disable-sync',
  '--disable-dev-shm-usage',
  '--no-first-run',
  '--no-default-browser-check',
  '--hide-scrollbars',
  '--remote-debugging-port=0',
] as const

/** Starts the browser that `scripts/chromium` provides. Throws with the script's message when there is none. */
export async function startBrowser(): Promise<Browser> {
  const program = await chromium()
  const folder = await mkdtemp(join(tmpdir(), 'iostlens-browser-'))
  const child = Bun.spawn(
    // Chromium's sandbox does not work for root.
    [
      program,
      ...FLAGS,
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      `--user-data-dir=${folder}`,
      'about:blank',
    ],
    { stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' },
  )
  const devtools = await connectDevtools(await addressIn(child.stderr))
  const newContext = async (): Promise<unknown> =>
    (await devtools.send('Target.createBrowserContext'))['browserContextId']
  const openIn = async (browserContextId: unknown, options: OpenOptions = {}): Promise<Page> => {
    const { targetId } = await devtools.send('Target.createTarget', { url: 'about:blank', browserContextId })
    const { sessionId } = await devtools.send('Target.attachToTarget', { targetId, flatten: true })
    return openPage(devtools.session(String(sessionId)), {
      ...options,
      close: async () => {
        await devtools.send('Target.disposeBrowserContext', { browserContextId })
      },
    })
  }
  return {
    open: async options => openIn(await newContext(), options),
    openWindows: async count => {
      const context = await newContext()
      return Promise.all(Array.from({ length: count }, () => openIn(context)))
    },
    close: async () => {
      devtools.close()
      child.kill('SIGKILL')
      await child.exited
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function chromium(): Promise<string> {
  const script = Bun.spawn([join(ROOT, 'scripts/chromium')], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [path, said, code] = await Promise.all([
    new Response(script.stdout).text(),
    new Response(script.stderr).text(),
    script.exited,
  ])
  if (code !== 0) throw new Error(`scripts/chromium ended with ${code}:\n${said}`)
  return path.trim()
}

/** Reads the DevTools URL that the browser prints. Later output is discarded. */
async function addressIn(stderr: ReadableStream<Uint8Array>): Promise<string> {
  let text = ''
  const found = Promise.withResolvers<string>()
  const reading = async (): Promise<void> => {
    const decoder = new TextDecoder()
    for await (const part of stderr) {
      text += decoder.decode(part, { stream: true })
      const [, address] = /DevTools listening on (\S+)/.exec(text) ?? []
      if (address === undefined) continue
      found.resolve(address)
      text = ''
    }
    found.reject(new Error(`Chromium ended before it listened:\n${text}`))
  }
  reading().catch(found.reject)
  return found.promise
}
