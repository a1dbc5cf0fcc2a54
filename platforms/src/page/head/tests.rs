use proptest::prelude::*;

use super::read;

#[test]
fn open_graph_stands_before_the_title() {
    let page = read(
        r#"<!doctype html><html><head><title>Plain</title>
        <meta property="og:title" content="Tom &amp; Jerry&#39;s &#x1F600;">
        <META content='A  "long"
          text' name='og:description' />
        <meta property=og:image content=/a.png>
        </head><body><meta property="og:title" content="no"></body></html>"#,
    );
    assert_eq!(page.title.as_deref().unwrap(), "Tom & Jerry's 😀");
    assert_eq!(page.description.as_deref(), Some("A \"long\" text"));
    assert_eq!(page.image.as_deref(), Some("/a.png"));
}

#[test]
fn a_plain_page_has_its_title_and_description() {
    let page = read("<TITLE lang=en> A\n B </TITLE><meta name=description content=C>");
    assert_eq!(
        (page.title.as_deref().unwrap(), page.description.as_deref(), page.image),
        ("A B", Some("C"), None)
    );
}

#[test]
fn a_page_may_have_no_title() {
    for html in ["", "<", "<meta property='og:title' content=' '>", "<title></title>", "plain text"]
    {
        assert_eq!(read(html).title, None, "{html}");
    }
}

#[test]
fn scripts_styles_and_comments_are_passed_over() {
    let html = r#"<!-- <title>no</title> --><script>"<title>no</title>"</SCRIPT><style><title>no</title></style>
        <titles>no</titles><title>yes</title>"#;
    assert_eq!(read(html).title.unwrap(), "yes");
}

#[test]
fn references_that_are_none_stay() {
    assert_eq!(
        read("<title>a & b &unknown; &#xZZ; &</title>").title.unwrap(),
        "a & b &unknown; &#xZZ; &"
    );
}

#[test]
fn long_texts_are_cut() {
    let title = "é".repeat(1_000);
    assert_eq!(read(&format!("<title>{title}</title>")).title.unwrap().chars().count(), 300);
}

proptest! {
    #[test]
    fn any_text_is_read_without_trouble(
        pieces in prop::collection::vec(
            prop_oneof![
                Just("<meta ".to_owned()), Just("property=".to_owned()), Just("\"og:title\"".to_owned()),
                Just(" content=".to_owned()), Just("'".to_owned()), Just("<title>".to_owned()),
                Just("<!--".to_owned()), Just("</script".to_owned()), Just("&#".to_owned()), any::<String>(),
            ],
            0..20,
        )
    ) {
        let title = read(&pieces.concat()).title;
        prop_assert!(title.is_none_or(|title| !title.trim().is_empty()));
    }
}

#[test]
fn references_are_read_as_browsers_read_them() {
    for (written, title) in [
        ("a&nbsp;b", "a b"),
        ("&lt;b&gt; &quot;q&quot; &apos;", "<b> \"q\" '"),
        ("caf&eacute; &copy &hellip;", "café © …"),
        ("&ccedil;&Uuml;&ntilde;&ldquo;&rdquo;", "çÜñ“”"),
        ("&#8364;&#x20AC;&#128;", "€€€"),
    ] {
        assert_eq!(read(&format!("<title>{written}</title>")).title.as_deref(), Some(title));
    }
}

#[test]
fn a_page_says_what_its_addresses_are_relative_to_and_how_it_is_written() {
    let head = read(
        "<base target=x><base href=/a/><base href=/b/>
        <meta http-equiv='Content-Type' content='text/html; charset=Shift_JIS'>",
    );
    assert_eq!((head.base.as_deref(), head.charset.as_deref()), (Some("/a/"), Some("shift_jis")));
    assert_eq!(read("<meta charset=' x '>").charset.as_deref(), Some(" x "));
}
