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
    )
    .unwrap();
    assert_eq!(page.title, "Tom & Jerry's 😀");
    assert_eq!(page.description.as_deref(), Some("A \"long\" text"));
    assert_eq!(page.image.as_deref(), Some("/a.png"));
}

#[test]
fn a_plain_page_has_its_title_and_description() {
    let page = read("<TITLE lang=en> A\n B </TITLE><meta name=description content=C>").unwrap();
    assert_eq!(
        (page.title.as_str(), page.description.as_deref(), page.image),
        ("A B", Some("C"), None)
    );
}

#[test]
fn a_page_without_a_title_has_no_card() {
    for html in ["", "<", "<meta property='og:title' content=' '>", "<title></title>", "plain text"]
    {
        assert_eq!(read(html), None, "{html}");
    }
}

#[test]
fn scripts_styles_and_comments_are_passed_over() {
    let html = r#"<!-- <title>no</title> --><script>"<title>no</title>"</SCRIPT><style><title>no</title></style>
        <titles>no</titles><title>yes</title>"#;
    assert_eq!(read(html).unwrap().title, "yes");
}

#[test]
fn references_that_are_none_stay() {
    assert_eq!(
        read("<title>a & b &unknown; &#xZZ; &</title>").unwrap().title,
        "a & b &unknown; &#xZZ; &"
    );
}

#[test]
fn long_texts_are_cut() {
    let title = "é".repeat(1_000);
    assert_eq!(read(&format!("<title>{title}</title>")).unwrap().title.chars().count(), 300);
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
        if let Some(page) = read(&pieces.concat()) {
            prop_assert!(!page.title.trim().is_empty());
        }
    }
}
