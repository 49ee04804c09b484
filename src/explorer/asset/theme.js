// Sets the visitor's theme, light or dark, before the first paint. Without a choice or a script, the system's
// theme applies.

const KEY = 'theme'
const THEMES = ['system', 'light', 'dark']

/** The stored choice. Without storage, a choice lasts for the page. */
let theme = (() => {
  try {
    return localStorage.getItem(KEY) ?? 'system'
  } catch {
    return 'system'
  }
})()

const show = () => {
  const { dataset } = document.documentElement
  if (theme === 'light' || theme === 'dark') dataset['theme'] = theme
  else delete dataset['theme']
  const button = document.querySelector('button.theme')
  if (!(button instanceof HTMLElement)) return
  const text = button.dataset[theme] ?? ''
  button.title = text
  button.setAttribute('aria-label', text)
}

show()
document.addEventListener('DOMContentLoaded', () => {
  show()
  document.querySelector('button.theme')?.addEventListener('click', () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'system'
    try {
      localStorage.setItem(KEY, theme)
    } catch {}
    show()
  })
})
