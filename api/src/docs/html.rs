//! The HTML frame of a page, which loads and runs nothing.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use pulldown_cmark::{Options, Parser, html::push_html};

const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#1d2330;--soft:#5d6678;--paper:#fff;--line:#dfe3ea;--tint:#f4f6f9;--accent:#3554d1}\
@media(prefers-color-scheme:dark){:root{--ink:#e6e9f0;--soft:#9aa3b5;--paper:#12151c;--line:#2b3140;\
--tint:#1a1f2a;--accent:#8fa6ff}}\
*{box-sizing:border-box}\
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,sans-serif}\
main{max-width:72rem;margin:0 auto;padding:1.5rem 1rem 4rem}\
h1{font-size:1.9rem;margin:.5rem 0}h2{margin:2.5rem 0 .5rem;border-bottom:1px solid var(--line)}h3{margin:2rem 0 .3rem}\
a{color:var(--accent)}nav{display:flex;flex-wrap:wrap;gap:.25rem 1rem}\
code,pre{font:.875rem/1.5 ui-monospace,monospace}\
code{overflow-wrap:anywhere;background:var(--tint);border-radius:4px;padding:.1em .3em}\
pre{background:var(--tint);border:1px solid var(--line);border-radius:6px;padding:.75rem;overflow-x:auto}\
pre code,h3 code{background:none;padding:0}\
.soft{color:var(--soft)}.method{font-weight:700;color:var(--accent)}\
dl{margin:.3rem 0}dt{margin-top:.5rem}dd{margin:0 0 0 1rem;color:var(--soft)}\
.beside{display:grid;gap:0 1.5rem}.beside>div{min-width:0}h4{margin:.8rem 0 .2rem}h3 a{text-decoration:none}\
.beside pre{max-height:26rem;overflow:auto}p,dl,ul{max-width:52rem}\
@media(min-width:60rem){.beside{grid-template-columns:1fr 1fr}}\
fieldset{border:1px solid var(--line);border-radius:6px;display:inline-block;margin:1rem 0}fieldset label{margin-right:1rem}\
main:has(#as-curl:checked) :is(.as-cli,.as-mcp),main:has(#as-cli:checked) :is(.as-curl,.as-mcp),\
main:has(#as-mcp:checked) :is(.as-curl,.as-cli){display:none}\
section:target,h3:target{outline:2px solid var(--accent);outline-offset:.4rem;border-radius:4px}";

/// Renders a page.
pub fn page(title: &str, main: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main {
                    nav {
                        a href="/" { "Fanfare" }
                        a href="/docs/guides" { "Guides" }
                        a href="/docs" { "API" }
                        a href="/docs/errors" { "Errors" }
                        a href="/openapi.json" { "OpenAPI" }
                        a href="/updates" { "Updates" }
                        a href="/feedback" { "Feedback" }
                    }
                    h1 { (title) }
                    (main)
                }
            }
        }
    };
    page.into_string()
}

/// Renders the switch between the forms of a request. It needs no script: the style sheet hides the other forms.
pub fn switch() -> Markup {
    let forms = [("as-curl", "curl"), ("as-cli", "Command"), ("as-mcp", "MCP tool")];
    html! {
        fieldset {
            legend { "Show requests as" }
            @for (nth, (id, label)) in forms.into_iter().enumerate() {
                label { input id=(id) type="radio" name="form" checked[nth == 0]; " " (label) }
            }
        }
    }
}

/// Renders Markdown of ours.
pub fn markdown(text: &str) -> Markup {
    let mut body = String::new();
    push_html(&mut body, Parser::new_ext(text, Options::ENABLE_TABLES));
    // Parts that scroll can be scrolled without a mouse.
    PreEscaped(body.replace("<pre>", "<pre tabindex=\"0\">"))
}

/// Renders a text, with `` `code` `` as code.
pub fn with_code(text: &str) -> Markup {
    html! {
        @for (place, part) in text.split('`').enumerate() {
            @if place % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_markup_but_its_code() {
        let shown = with_code("Send `<b>` & <i>.").into_string();
        assert_eq!(shown, "Send <code>&lt;b&gt;</code> &amp; &lt;i&gt;.");
    }
}
