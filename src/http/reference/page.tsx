/** @jsxImportSource @kitajs/html */
import type { ApiAction } from '#actions/define.ts'
import type { Site } from '#explorer/page.ts'
import { ServicePage } from '#explorer/part/document.tsx'
import type { Assets } from '../assets.ts'
import { type ReferenceOptions, referenceBody } from './body.ts'
import { paragraphs, words } from './text.ts'

type PageOptions = Pick<ReferenceOptions, 'lang' | 'defaults' | 'examples'> & {
  readonly site: Site
  readonly files: Assets['reference']
}

/** The reference as a page of HTML. Its links are relative, so that it works behind any path prefix. */
export async function renderReference(
  actions: readonly ApiAction[],
  { site, files, ...options }: PageOptions,
): Promise<string> {
  const { lang } = options
  const { version, testKey } = site
  return (
    <ServicePage
      shell={{
        ...{ site, root: '../', lang, path: '/docs', query: new URLSearchParams() },
        say: text => text[lang],
      }}
      other={lang === 'en' ? 'zh' : 'en'}
      title={words.title[lang]}
      description={paragraphs.intro[0]?.[lang] ?? ''}
      links={
        <>
          <link rel="stylesheet" href={`../assets/${files.style}`} />
          <script src={`../assets/${files.script}`} defer></script>
        </>
      }
    >
      {referenceBody(actions, { ...options, version, testKey }).text as 'safe'}
    </ServicePage>
  )
}
