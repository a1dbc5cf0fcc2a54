//! The style of the pages: one column, system fonts, dark or light as the browser prefers.

/// The style sheet, which is inlined in every page.
pub(crate) const CSS: &str = "\
:root{color-scheme:light dark;--bg:#f6f6f4;--card:#fff;--ink:#1c1c1a;--soft:#62625c;--line:#dededa;--tint:#b4532a}\
@media(prefers-color-scheme:dark){:root{--bg:#161615;--card:#20201e;--ink:#ecebe6;--soft:#a09f97;--line:#353531;--tint:#f0a077}}\
*{box-sizing:border-box}\
body{margin:0;background:var(--bg);color:var(--ink);font:16px/1.5 system-ui,sans-serif}\
main{max-width:40rem;margin:0 auto;padding:1rem}\
header{padding:.5rem 0 1rem}\
h1{font-size:1.25rem;margin:0}\
h2{font-size:1rem;margin:0 0 .25rem}\
p{margin:0}\
a{color:var(--tint)}\
small,time{color:var(--soft);font-size:.85rem}\
ul{list-style:none;margin:0;padding:0}\
article,li{background:var(--card);border:1px solid var(--line);border-radius:.75rem;padding:1rem;margin:0 0 .75rem;overflow-wrap:anywhere}\
.text{white-space:pre-wrap;margin-bottom:.5rem}\
.media{display:flex;flex-wrap:wrap;gap:.5rem;margin:0 0 .5rem}\
.media div{border:1px dashed var(--line);border-radius:.5rem;padding:.5rem .75rem;min-width:8rem;max-width:100%}\
details{margin:.5rem 0 0}\
pre{overflow-x:auto;font-size:.8rem;margin:.5rem 0 0}";
