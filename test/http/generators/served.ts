import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { chosenParameters, type Form } from '#http/openapi/action-operation.ts'
import { type Service, serviceOn } from '../../support/processes/service.ts'
import { ROOT } from '../../support/root.ts'
import { loadedStore } from '../../support/stores/loaded.ts'

/** The recorded chain, served on a port for programs that only know the OpenAPI document. */
type Served = AsyncDisposable & {
  readonly service: Service
  readonly url: string
  /** A folder inside the project, so that programs in it find the project's packages. */
  readonly folder: string
  /** Writes the document for these options into the folder. */
  document(chosen: Partial<Form>): Promise<string>
}

export async function serveForGenerators(): Promise<Served> {
  await mkdir(join(ROOT, '.cache'), { recursive: true })
  const folder = await mkdtemp(join(ROOT, '.cache/generated-'))
  const service = serviceOn(await loadedStore())
  service.app.listen({ hostname: '127.0.0.1', port: 0 })
  let written = 0
  return {
    service,
    url: `http://127.0.0.1:${service.app.server?.port}`,
    folder,
    document: async chosen => {
      const path = join(folder, `openapi-${written++}.json`)
      const answer = await service.ask(`/openapi.json?${new URLSearchParams(chosenParameters(chosen))}`)
      await Bun.write(path, await answer.text())
      return path
    },
    [Symbol.asyncDispose]: async () => {
      await service.app.stop(true)
      await rm(folder, { recursive: true, force: true })
    },
  }
}
