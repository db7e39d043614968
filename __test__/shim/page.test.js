/** The page as a browser shows it: both themes, and at the width of a phone. Runs where Chromium is found. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { inflateSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run } from '../../js/cli/main.js'
import { Terminal } from '../../js/cli/terminal.js'
import { singleHome } from '../support/generate-trail.js'
import { tempDir } from '../support/temp-dir.js'

const chromium = (process.env.PATH ?? '')
  .split(delimiter)
  .flatMap(folder => ['chromium', 'chromium-browser', 'google-chrome'].map(name => join(folder, name)))
  .find(file => existsSync(file))

const dir = tempDir()
const page = join(dir.path, 'page.html')
let profiles = 0

/** Runs the browser on a file, with nothing of it left behind and nothing asked of a network. */
function browse(file, ...args) {
  profiles += 1
  const quiet = [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--hide-scrollbars',
    `--user-data-dir=${join(dir.path, `profile-${profiles}`)}`,
  ]
  const env = { PATH: process.env.PATH, HOME: dir.path }
  const options = { encoding: /** @type {const} */ ('utf8'), timeout: 60_000, env, maxBuffer: 1 << 28 }
  return spawnSync(chromium, [...quiet, ...args, `file://${file}`], options).stdout
}

/** Width, height and the colour of the pixel in the upper left corner of a PNG of eight bits a channel. @param {string} file */
function corner(file) {
  const png = readFileSync(file)
  const [width, height, depth, type] = [png.readUInt32BE(16), png.readUInt32BE(20), png[24], png[25]]
  expect(depth).toBe(8)
  const data = []
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT')
      data.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)))
  }
  // The first pixel of the first line is the same under every filter.
  const [, red, green, blue] = inflateSync(Buffer.concat(data))
  expect([2, 6]).toContain(type)
  return { width, height, colour: [red, green, blue] }
}

describe.skipIf(chromium === undefined)('in Chromium', () => {
  beforeAll(async () => {
    const storages = join(dir.path, 'storages')
    await singleHome(storages, { records: 3000, seed: 3, stepMs: 120_000, config: { mode: 'enforce' } })
    expect(
      await run(['report', '--html', page, '--storages', storages], new Terminal({ write() {}, bar: false })),
    ).toBe(0)
  })
  afterAll(dir.remove)

  test.each([
    ['light', 1, [0xfb, 0xfb, 0xfa]],
    ['dark', 0, [0x14, 0x17, 0x1a]],
  ])('in the theme %s', (theme, scheme, colour) => {
    const file = join(dir.path, `${theme}.png`)
    browse(page, `--blink-settings=preferredColorScheme=${scheme}`, '--window-size=1000,1400', `--screenshot=${file}`)
    expect(corner(file)).toEqual({ width: 1000, height: 1400, colour })
  })

  test.each([360, 390, 768, 1280])('at a width of %i nothing sticks out, and every section is there', width => {
    const srcdoc = readFileSync(page, 'utf8').replaceAll('&', '&amp;').replaceAll('"', '&quot;')
    const frame = join(dir.path, `frame-${width}.html`)
    writeFileSync(
      frame,
      `<!doctype html><body><iframe style="width:${width}px;height:3000px;border:0" srcdoc="${srcdoc}" onload="
        const { documentElement: root, body } = this.contentDocument
        const out = [...body.querySelectorAll('*')].filter(e => e.getBoundingClientRect().right > ${width} + 1)
        document.body.dataset.seen = [root.scrollWidth, out.length, body.querySelectorAll('section').length].join(' ')
      "></iframe>`,
    )
    const [, seen] = /data-seen="([^"]*)"/.exec(browse(frame, '--dump-dom')) ?? []
    const [scrolled, out, sections] = (seen ?? '').split(' ').map(Number)
    expect({ scrolled, out }).toEqual({ scrolled: width, out: 0 })
    expect(sections).toBeGreaterThanOrEqual(8)
  })
})
