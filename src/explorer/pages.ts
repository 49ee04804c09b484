import type { Page } from './page.ts'
import { blockPage } from './pages/block.tsx'
import { blocksPage } from './pages/blocks.tsx'
import { homePage } from './pages/home.tsx'
import { searchPage } from './pages/search.tsx'

/** Every page, listed by hand; the first whose path fits is shown. */
export const pages: readonly Page[] = [homePage, searchPage, blocksPage, blockPage]
